package calibrated

import "maps"

// Shipped are the constants that come with the program, by generation.
func Shipped() map[string]Constants { return maps.Clone(shipped()) }
