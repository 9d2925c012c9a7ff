// Bundle makes the assets of the pages (internal/face/web/assets) from their source (internal/face/web/src): TypeScript and styles
// are bundled and minified, the page and its words in other languages are copied.
//
//	go -C tools run ./bundle
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// web is the folder of the pages, seen from that of this program's tests and of "go -C tools run".
const (
	fromTools = "../internal/face/web"
	fromHere  = "../../internal/face/web"
)

func main() {
	if err := write(fromTools); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// asset is a file of the pages.
type asset struct {
	name     string
	contents []byte
}

func write(web string) error {
	assets, err := bundle(web)
	if err != nil {
		return err
	}
	for _, a := range assets {
		if err := os.WriteFile(filepath.Join(web, "assets", a.name), a.contents, 0o666); err != nil {
			return err
		}
		fmt.Printf("%-12s %7d bytes\n", a.name, len(a.contents))
	}
	return nil
}

// bundle makes all assets, in the order of their names.
func bundle(web string) ([]asset, error) {
	src, err := filepath.Abs(filepath.Join(web, "src"))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(src, "uplot", "LICENSE"))
	if err != nil {
		return nil, err
	}
	result := api.Build(options(src, string(licence)))
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	var assets []asset
	for _, name := range []string{"index.html", "zh.json"} {
		data, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return nil, err
		}
		assets = append(assets, asset{name, data})
	}
	for _, f := range result.OutputFiles {
		assets = append(assets, asset{filepath.Base(f.Path), f.Contents})
	}
	slices.SortFunc(assets, func(a, b asset) int { return strings.Compare(a.name, b.name) })
	return assets, nil
}

func options(src, licence string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir:     src,
		EntryPoints:       []string{"report.ts", "page.ts", "playground.ts", "worker.ts", "style.css"},
		Outdir:            "out",
		Bundle:            true,
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		Banner:            map[string]string{"js": "/* Charts by uPlot 1.6.32.\n" + strings.TrimSpace(licence) + " */"},
		LogLevel:          api.LogLevelSilent,
	}
}
