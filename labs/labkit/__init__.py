"""What the lab sheets need beside pysim: runs, pictures, and checks that say what is wrong.

The notebooks find it in the folder that they lie in. It may use all of pysim and of the analysis;
neither of them knows of it.
"""
