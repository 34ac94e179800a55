"""The page in a real browser. A package, so that its one browser is closed before other tests begin."""
