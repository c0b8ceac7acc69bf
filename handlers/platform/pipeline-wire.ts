import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { PipelineConfig } from '../../generated/platform/types.ts'

/** The pipeline without secrets, which are kept apart. Tools show only name and kind. */
export function pipelineConfig({ tools, intent, ...pipeline }: Pipeline): PipelineConfig {
  const named = tools.map(({ name, source }) => ({ name, kind: source.kind }))
  return { ...pipeline, intent, tools: named }
}
