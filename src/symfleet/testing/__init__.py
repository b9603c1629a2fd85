"""Public fakes and drivers for tests, of symfleet itself and of what is built on it."""
