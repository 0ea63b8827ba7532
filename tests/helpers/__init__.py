"""What several tests need: small tasks, runs, configs and programs. On the path as `helpers` (pyproject.toml)."""
