"""Where the shards of a pool are labelled: several processes of this machine (local), or a Ray cluster (ray)."""
