"""Token classification: a tag for each word, on any encoder."""
