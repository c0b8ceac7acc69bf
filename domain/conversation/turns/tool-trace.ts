/** Records a tool call's span below its turn's span. */
import type { Trace } from '../../ports/trace.ts'
import type { Call } from '../../records/call.ts'
import type { ToolFailureCode } from '../parts/deps.ts'

type EndedTool = { name: string; startedMs: number; endedMs: number; failure: ToolFailureCode | undefined }

export function recordTool(trace: Trace | null, { id }: Call, { name, startedMs, endedMs, failure }: EndedTool): void {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    'gen_ai.conversation.id': id,
  }
  trace?.record({ name: `execute_tool ${name}`, kind: 'internal', startedMs, endedMs, attributes, failure })
}
