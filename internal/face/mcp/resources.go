package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

const (
	planPrefix = "plimsoll://plan/"
	docsPrefix = "plimsoll://docs/"
	jsonType   = "application/json"
	textType   = "text/markdown"
	// maxRecords is how many plans are kept.
	maxRecords = 32
)

// records are the plans that this server made, the latest last.
type records struct {
	mu  sync.Mutex
	ids []string
	at  map[string]string
}

// add keeps a record, and returns the one it drops in exchange.
func (r *records) add(id, text string) (dropped string, isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.at[id]; ok {
		return "", false
	}
	r.at[id] = text
	if r.ids = append(r.ids, id); len(r.ids) > maxRecords {
		dropped = r.ids[0]
		r.ids = slices.Delete(r.ids, 0, 1)
		delete(r.at, dropped)
	}
	return dropped, true
}

func (r *records) get(id string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok := r.at[id]
	return text, ok
}

// record keeps a plan as a resource. The same plan has the same id.
func (s *Server) record(p *plan.Response, data []byte) *sdk.ResourceLink {
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:6])
	name := fmt.Sprintf("plan of %s on %s", p.Model, strings.Join(p.Request.Systems, ", "))
	dropped, isNew := s.records.add(id, string(data))
	if dropped != "" {
		s.server.RemoveResources(planPrefix + dropped)
	}
	if isNew {
		s.server.AddResource(&sdk.Resource{URI: planPrefix + id, Name: name, Description: p.Answer.Sentence, MIMEType: jsonType}, s.readRecord)
	}
	return &sdk.ResourceLink{URI: planPrefix + id, Name: name, Description: "the record of this plan", MIMEType: jsonType}
}

func (s *Server) addRecords() {
	s.server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: planPrefix + "{id}", Name: "plan", Title: "A plan of this server", MIMEType: jsonType,
		Description: "The record of a plan made since the server started: request, answer, versions and hashes of the data.",
	}, s.readRecord)
}

func (s *Server) readRecord(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	text, ok := s.records.get(strings.TrimPrefix(r.Params.URI, planPrefix))
	if !ok {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	return contents(r.Params.URI, jsonType, text), nil
}

func contents(uri, kind, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}

// addDocs offers the documentation.
func addDocs(server *sdk.Server, docs fs.FS) error {
	if docs == nil {
		return nil
	}
	files, err := fs.Glob(docs, "*.md")
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := fs.ReadFile(docs, file)
		if err != nil {
			return err
		}
		text, name := string(data), strings.TrimSuffix(file, ".md")
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		server.AddResource(&sdk.Resource{URI: docsPrefix + name, Name: name, Title: title, MIMEType: textType, Size: int64(len(data))},
			func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return contents(r.Params.URI, textType, text), nil
			})
	}
	return nil
}
