/**
 * Joins a session's tools: the agent's tools, the tools in the request for the session, and the tools in the pre-call
 * webhook's answer. A later tool replaces an earlier tool with the same name.
 */

import { callbackParametersOf } from '../callbacks/callback-request.ts'
import type { PipelineTool, SessionTransport } from '../records/pipeline.ts'
import { type Issue, refuseIssues } from '../records/resource-fault.ts'
import type { NewTool, StoredTool, ToolSecrets, ToolSource } from '../records/tool.ts'
import { transferParameters } from '../transfers/settings/transfer-config.ts'
import { pressKeysParameters } from './press-keys.ts'
import { makeSource } from './tool-source.ts'

/** The secrets for webhook tools, by tool name. */
export type SecretsByTool = Readonly<Record<string, ToolSecrets>>

/**
 * Limits a session's tools, because providers accept at most this many. An agent and a request can bring 64 each, and
 * the answer from the pre-call webhook 64 more.
 */
export const toolsMax = 128

/**
 * Joins the tools. Throws ResourceFault if there are too many tools, or if a tool's header has no value. A session's
 * tools are not stored, so no stored value can replace the missing value.
 */
export function joinTools(
  transport: SessionTransport,
  ofAgent: readonly StoredTool[],
  ...requests: readonly (readonly NewTool[] | null | undefined)[]
): { tools: PipelineTool[]; secrets: SecretsByTool } {
  const issues: Issue[] = []
  // If a request's tools are null, the tools from the requests before it are removed.
  const first = Math.max(requests.lastIndexOf(null), 0)
  const sent = requests.slice(first).flatMap((tools) =>
    (tools ?? []).map((tool, at) => {
      const { source, secrets, issues: toolIssues } = makeSource(tool.source, null)
      issues.push(...toolIssues.map(({ path, problem }) => ({ path: ['tools', at, ...path], problem })))
      const { name, description, parameters = null, preToolSpeech = null } = tool
      return { tool: { name, description, parameters, preToolSpeech, source }, secrets }
    }),
  )
  const byName = new Map([...ofAgent, ...sent].map((each) => [each.tool.name, each]))
  if (byName.size > toolsMax) issues.push({ path: ['tools'], problem: { kind: 'tools_too_many', toolsMax } })
  refuseIssues(issues)
  const all = [...byName.values()].filter(({ tool }) => transport === 'phone' || !isOfPhone(tool.source))
  return {
    tools: all.map(({ tool }) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters ?? parametersOf(tool.source, transport),
      source: tool.source,
      preToolSpeech: tool.preToolSpeech ?? 'auto',
    })),
    secrets: Object.fromEntries(
      all.flatMap(({ tool, secrets }) => (tool.source.kind === 'webhook' ? [[tool.name, secrets]] : [])),
    ),
  }
}

/** Returns the schema for a tool's arguments if the tool's definition contains no schema. */
export function parametersOf(source: ToolSource, transport: SessionTransport): NonNullable<PipelineTool['parameters']> {
  if (source.kind !== 'builtin') return { type: 'object', properties: {} }
  const { name, config } = source
  switch (name) {
    case 'end_call':
      return { type: 'object', properties: {} }
    case 'send_dtmf':
      return pressKeysParameters
    case 'schedule_callback':
      return callbackParametersOf(transport)
    case 'transfer_call':
      return transferParameters(config ?? {})
  }
}

/** Returns true if the tool works only in a phone call. A browser has no phone line for the tones. */
function isOfPhone(source: ToolSource): boolean {
  return source.kind === 'builtin' && source.name === 'send_dtmf'
}
