// Package humanize stands for github.com/dustin/go-humanize, of which charm.land/bubbles uses one function, for a list of
// files that no form here has. That package computes tables of large numbers whenever a program starts that contains it.
package humanize

import "fmt"

// Bytes is a number of bytes in words.
func Bytes(n uint64) string { return fmt.Sprintf("%d B", n) }
