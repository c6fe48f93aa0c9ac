"""Statistics without files: every function takes numbers and gives numbers.

All of them work on the last axis of an array, so that a simulation of 20,000 experiments runs the
very code that decides one.
"""
