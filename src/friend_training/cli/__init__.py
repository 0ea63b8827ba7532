"""The command `friend-train`: one file per group of subcommands, which read options and print results."""
