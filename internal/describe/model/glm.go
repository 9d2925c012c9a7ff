package model

// parseGLM5 reads GLM-5, 5.1 and 5.2, which are built like DeepSeek-V3.2.
func parseGLM5(r *reader) *Model { return parseDeepSeek(r, lineage{bias: true, sparse: true}) }

// parseGLM4MoELite reads GLM-4.7-Flash, which is built like DeepSeek-V3.
func parseGLM4MoELite(r *reader) *Model {
	return parseDeepSeek(r, lineage{bias: true})
}

// parseGLM4MoE reads GLM-4.5, GLM-4.5-Air, 4.6 and 4.7: grouped-query attention with
// DeepSeek's expert layers.
func parseGLM4MoE(r *reader) *Model {
	return r.decoder(style{
		plainOut: true, qkNorm: PerHead, qkNormSaid: true,
		experts: true, ownWidth: true, router: RawRouter, routerBias: true, layer: func(_ int, l *Layer) {
			if l.FFN.Kind == MoE {
				l.FFN.Groups, l.FFN.GroupTopK = 1, 1
			}
		},
	})
}
