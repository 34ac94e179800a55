"""Models of real providers, by way of a library that knows them all."""
