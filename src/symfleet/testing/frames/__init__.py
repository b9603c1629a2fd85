"""Changed frames for every machine that receives frames: `mutate` changes, `target` says what a
machine is to a fuzzer, the others are machines.
"""
