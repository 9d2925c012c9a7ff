package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// object is a Kubernetes object.
type object = map[string]any

// at is the value under keys, nil where there is none.
func at(o any, keys ...string) any {
	for _, k := range keys {
		m, ok := o.(object)
		if !ok {
			return nil
		}
		o = m[k]
	}
	return o
}

// text, number and list are values under keys, empty where there are none.
func text(o any, keys ...string) string {
	s, ok := at(o, keys...).(string)
	if !ok {
		return ""
	}
	return s
}

func number(o any, keys ...string) int {
	switch n := at(o, keys...).(type) {
	case float64:
		return int(n)
	case int:
		return n
	case string: // a quantity, which the API server writes so
		if n, err := strconv.Atoi(n); err == nil {
			return n
		}
	}
	return 0
}

func list(o any, keys ...string) []object {
	items, _ := at(o, keys...).([]any)
	out := make([]object, 0, len(items))
	for _, item := range items {
		if m, ok := item.(object); ok {
			out = append(out, m)
		}
	}
	return out
}

func name(o object) string      { return text(o, "metadata", "name") }
func namespace(o object) string { return text(o, "metadata", "namespace") }

// api is a client of the API server. as, if set, is the user that it acts as.
type api struct {
	url  string
	http *http.Client
	as   string

	mu    sync.Mutex
	kinds map[string][]object // apiVersion: its resources
}

func newAPI(url string, identity tls.Certificate, ca *tls.Config) *api {
	config := ca.Clone()
	config.Certificates = []tls.Certificate{identity}
	return &api{
		url: url, http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 16}},
		kinds: map[string][]object{},
	}
}

// impersonate is a client that acts as a service account, with the rights that its bindings give.
func (a *api) impersonate(ns, account string) *api {
	return &api{url: a.url, http: a.http, as: "system:serviceaccount:" + ns + ":" + account, kinds: map[string][]object{}}
}

// refusal is an answer of the API server that is no success.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

// do sends a request and reads the answer; warnings are what the server says beside it.
func (a *api) do(ctx context.Context, method, path, media string, body any) (answer object, warnings []string, err error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, nil, err
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, reader)
	if err != nil {
		return nil, nil, err
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	if a.as != "" {
		req.Header.Set("Impersonate-User", a.as)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(resp.Body)
	if err = firstError(err, resp.Body.Close()); err != nil {
		return nil, nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		var status struct{ Message string }
		if json.Unmarshal(data, &status) != nil || status.Message == "" {
			status.Message = strings.TrimSpace(string(data))
		}
		return nil, nil, &refusal{resp.StatusCode, status.Message}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(data, &answer)
	}
	return answer, resp.Header.Values("Warning"), err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// groupPath is the folder of an apiVersion.
func groupPath(version string) string {
	if strings.Contains(version, "/") {
		return "/apis/" + version
	}
	return "/api/" + version
}

// path is the path of an object, or of all of its kind in the namespace if it has no name.
func (a *api) path(ctx context.Context, version, kind, ns, name string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	is := func(r object) bool { return text(r, "kind") == kind && !strings.Contains(text(r, "name"), "/") }
	if !slices.ContainsFunc(a.kinds[version], is) {
		found, _, err := a.do(ctx, http.MethodGet, groupPath(version), "", nil)
		if err != nil {
			return "", fmt.Errorf("no kind %s of %s: %w", kind, version, err)
		}
		a.kinds[version] = list(found, "resources")
	}
	i := slices.IndexFunc(a.kinds[version], is)
	if i < 0 {
		return "", fmt.Errorf("no kind %s of %s", kind, version)
	}
	path := groupPath(version)
	if r := a.kinds[version][i]; at(r, "namespaced") == true && ns != "" {
		path += "/namespaces/" + ns
	}
	path += "/" + text(a.kinds[version][i], "name")
	if name != "" {
		path += "/" + name
	}
	return path, nil
}

// apply is kubectl apply --server-side --validate=strict, try the same with --dry-run=server.
func (a *api) apply(ctx context.Context, ns string, o object) (warnings []string, err error) {
	return a.send(ctx, ns, o, "")
}

func (a *api) try(ctx context.Context, ns string, o object) (warnings []string, err error) {
	return a.send(ctx, ns, o, "&dryRun=All")
}

func (a *api) send(ctx context.Context, ns string, o object, option string) (warnings []string, err error) {
	path, err := a.path(ctx, text(o, "apiVersion"), text(o, "kind"), ns, name(o))
	if err != nil {
		return nil, err
	}
	_, warnings, err = a.do(ctx, http.MethodPatch, path+"?fieldManager=kubectl&fieldValidation=Strict"+option, "application/apply-patch+yaml", o)
	return warnings, err
}

// merge changes an object, or with sub a part of it such as /status.
func (a *api) merge(ctx context.Context, o object, sub string, change object) error {
	path, err := a.path(ctx, text(o, "apiVersion"), text(o, "kind"), namespace(o), name(o))
	if err != nil {
		return err
	}
	_, _, err = a.do(ctx, http.MethodPatch, path+sub, "application/merge-patch+json", change)
	return err
}

// remove deletes an object at once.
func (a *api) remove(ctx context.Context, o object) error {
	path, err := a.path(ctx, text(o, "apiVersion"), text(o, "kind"), namespace(o), name(o))
	if err != nil {
		return err
	}
	_, _, err = a.do(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0&propagationPolicy=Background", "", nil)
	return err
}

// get reads an object.
func (a *api) get(ctx context.Context, version, kind, ns, name string) (object, error) {
	path, err := a.path(ctx, version, kind, ns, name)
	if err != nil {
		return nil, err
	}
	o, _, err := a.do(ctx, http.MethodGet, path, "", nil)
	return o, err
}

// list reads all objects of a kind, in all namespaces if ns is empty. Items of a list have no kind of their own.
func (a *api) list(ctx context.Context, version, kind, ns, selector string) ([]object, error) {
	path, err := a.path(ctx, version, kind, ns, "")
	if err != nil {
		return nil, err
	}
	if selector != "" {
		path += "?labelSelector=" + url.QueryEscape(selector)
	}
	answer, _, err := a.do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	items := list(answer, "items")
	for _, o := range items {
		o["apiVersion"], o["kind"] = version, kind
	}
	return items, nil
}
