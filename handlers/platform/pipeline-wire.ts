import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { PipelineConfig } from '../../generated/platform/types.ts'

/**
 * Shows a call's configuration. It contains no secrets, because they are stored separately. A tool is shown only by its
 * name and kind.
 */
export function pipelineConfig({ tools, intent, ...pipeline }: Pipeline): PipelineConfig {
  const named = tools.map(({ name, source }) => ({ name, kind: source.kind }))
  return { ...pipeline, intent, tools: named }
}
