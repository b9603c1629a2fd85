"""Public fakes and drivers for tests, of symfleet itself and of what is built on it.

A folder holds one programme of tests with everything that only it needs. Beside the folders lies
what several use: processes of a job (`jobs`, `launch`), campaigns (`programs`, `own_engine`,
`one_process`), benches for one machine (`coordinator_bench`, `worker_bench`), clocks, ledgers.
"""
