//go:build !js

package web

import "embed"

//go:embed assets
var assets embed.FS
