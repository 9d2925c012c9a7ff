package engine

import "github.com/plimsoll-project/plimsoll/internal/basic/embedded"

// Embedded is the data of this package as they are in the program, for checks of an installation.
func Embedded() embedded.Files {
	return embedded.Files{"releases.json": releasesJSON, "defaults.json": defaultsJSON, "presets.yaml": presetsFile, "reworked.yaml": reworkedFile}.With(profiles)
}
