package report

import (
	"io"

	"plimsoll/internal/app"
)

// plots draws the sweep of a single device.
func plots(io.Writer, *app.OptimizeResponse, *app.DeviceResult, OptimizeView) {}

// PlotFile draws the sweep of every device to a file.
func PlotFile(io.Writer, string, *app.OptimizeResponse) error { return nil }
