#!/bin/sh
# Compiles and runs the tests.
cd "$(dirname "$0")" && ${CC:-cc} -Wall -Werror -o build-test duration.c test.c && ./build-test
