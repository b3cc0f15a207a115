#!/usr/bin/env python3
"""Prints the values of tests/unit/domains/booking/slots/linear_program_test.cpp, by scipy's HiGHS."""
import numpy
from scipy.optimize import linprog


class Numbers:
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) % 2**31
        return (self.state >> 16) % n


def program(seed, rows, columns):
    """Small whole numbers, a third of them 0: many ties. The last row bounds all."""
    numbers = Numbers(seed)
    rooms = [numbers.below(20) for _ in range(rows - 1)] + [100]
    gains, takes = [], []
    for _ in range(columns):
        gains.append(numbers.below(30) - 5)
        takes.append([max(0, numbers.below(9) - 3) - (numbers.below(8) == 0) for _ in range(rows - 1)] + [1])
    return numpy.array(rooms), numpy.array(gains), numpy.array(takes).T


def main():
    for seed in range(1, 9):
        rooms, gains, takes = program(seed, 3 + 3 * seed, 4 + 9 * seed)
        found = linprog(-gains, A_ub=takes, b_ub=rooms)
        other = linprog(-gains, A_ub=takes, b_ub=numpy.roll(rooms, 1))
        print(f"{{{seed}, {-found.fun:.9f}, {-other.fun:.9f}}},")


main()
