// Package objects reads documents of YAML as the objects that they describe: of Kubernetes, of its custom resources, services of Compose,
// and values of charts.
//
// In: a document whose size, depth and aliases are bounded ([strictyaml.Documents]). Out: [Object], each with the pods that it starts,
// wherever in it they stand. It knows neither engines nor what is wrong with an object. Start with objects.go.
package objects
