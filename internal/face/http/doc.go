// Package http serves Plimsoll on a local address: the operations as a JSON API with an
// OpenAPI document, and the page that uses it.
//
// In: a runner of package operation and HTTP requests. Out: documents, files and pages;
// errors in the format of RFC 9457. It computes nothing. Start at [New].
package http
