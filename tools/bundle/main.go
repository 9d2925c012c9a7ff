// Bundle makes the assets of the pages (internal/face/web/assets) from their source (internal/face/web/src): TypeScript and styles
// are bundled and minified, the page is copied, and its words in Chinese are joined with the messages of the wizard.
//
//	go -C tools run ./bundle
package main

import (
	"encoding/json"
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
	page, err := os.ReadFile(filepath.Join(src, "index.html"))
	if err != nil {
		return nil, err
	}
	words, err := chinese(src)
	if err != nil {
		return nil, err
	}
	assets := []asset{{"index.html", page}, {"zh.json", words}}
	for _, f := range result.OutputFiles {
		assets = append(assets, asset{filepath.Base(f.Path), f.Contents})
	}
	slices.SortFunc(assets, func(a, b asset) int { return strings.Compare(a.name, b.name) })
	return assets, nil
}

// chinese is the words of the pages in Chinese, with the messages of checks that the wizard has.
func chinese(src string) ([]byte, error) {
	var out struct {
		Words    json.RawMessage `json:"words"`
		Messages json.RawMessage `json:"messages"`
	}
	var err error
	if out.Words, err = os.ReadFile(filepath.Join(src, "zh.json")); err != nil {
		return nil, err
	}
	wizard, err := os.ReadFile(filepath.Join(src, "../../wizard/text/zh.json"))
	if err != nil {
		return nil, err
	}
	var text struct{ Messages json.RawMessage }
	if err := json.Unmarshal(wizard, &text); err != nil {
		return nil, err
	}
	out.Messages = text.Messages
	return json.Marshal(out)
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
