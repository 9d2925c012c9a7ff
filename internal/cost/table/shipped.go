package table

import (
	_ "embed"
	"fmt"
	"sync"
)

//go:embed surfaces.bin
var shippedFile []byte

// Shipped are the surfaces that come with the program. Only their index is read.
//
//nolint:gochecknoglobals // the same for the whole process, and never changed
var Shipped = sync.OnceValue(func() *Surfaces {
	s, err := ReadSurfaces(shippedFile)
	if err != nil {
		panic(fmt.Sprintf("table: surfaces.bin: %v", err)) // a test reads it
	}
	return s
})
