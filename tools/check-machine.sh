#!/bin/sh
# Says in one sentence what this machine lacks before anything is installed. Usage: check-machine.sh PYTHON
python=$1
fail() { echo "pysim: $1" >&2; exit 1; }

command -v "$python" >/dev/null || fail "there is no Python called '$python'; install Python 3.11 to 3.13 or say 'make PYTHON=/path/to/python'."
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
    3.11|3.12|3.13) ;;
    *) fail "Python $version is not supported; say 'make PYTHON=...' with a Python 3.11 to 3.13." ;;
esac
"$python" -c 'import venv, ensurepip' 2>/dev/null || fail "Python $version cannot make virtual environments; install its venv package (python3-venv on Debian)."
"$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' \
    || fail "Python $version has no C headers; install its development package (python3-dev on Debian)."
command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || fail "there is no C++ compiler; install one (g++ on Debian)."
