"""The service: trained models over HTTP, in batches."""
