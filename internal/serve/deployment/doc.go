// Package deployment is a model served on devices: which model, which devices,
// which engine with which settings, and the layout of each pool of replicas.
//
// In: a Deployment, a plain value of names and numbers that can be written down
// and sent, and what its names stand for. Out: a Resolved deployment, with every
// default filled in and every layout checked. Requests, measured rows, candidates
// of a search and generated files convert to and from it; this is the only place
// that builds a graph.Spec. Start with deployment.go, then resolve.go.
package deployment
