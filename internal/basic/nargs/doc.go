// Package nargs gives pflag the argument lists of Python's argparse: nargs="+", "*" and "?".
//
// In: the words of a command line and the flag set that will parse them. Out: the same command line in a form pflag reads
// the way argparse would ("--device A B" becomes "--device=A --device=B"). It does not know which flags there are, what
// they mean, or how an error is printed. Start at [Rewrite]; flags are made with [ListVar], [Var] and [MarkOptional].
//
// A list takes every word up to the next flag or "--", so a positional argument goes before the lists or after "--".
// A word that is a negative number is a value and not a flag. "--device=A B" takes only A. "--tp-sizes" alone differs from
// no "--tp-sizes" at all: the first makes an empty slice, the second leaves nil.
//
// As in argparse, an unambiguous beginning of a flag's name stands for it. One thing is chosen differently: a flag given
// twice appends to its list instead of replacing it.
package nargs
