"""The proof: processes are killed for real, and the promises are checked on what is left."""
