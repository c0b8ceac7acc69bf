import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { PipelineConfig } from '../../generated/platform/types.ts'

/** Without secrets, which are kept apart, and of tools only what they are called. */
export function pipelineConfig({ tools, intent, ...pipeline }: Pipeline): PipelineConfig {
  const named = tools.map(({ name, source }) => ({ name, kind: source.kind }))
  return { ...pipeline, intent, tools: named }
}
