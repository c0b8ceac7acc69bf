/** Checks the rules for a session request that a schema cannot express. */
import { type AgentRules, issuesOfSettings } from '../agents/check-agent.ts'
import { issuesOfTool, type ToolRules } from '../agents/tools.ts'
import { issuesOfMetadata } from '../records/metadata.ts'
import type { Issue, ValuePath } from '../records/resource-fault.ts'
import type { JoinedSettings } from './join.ts'
import type { RenderTemplate } from './render.ts'
import type { SessionRequest } from './start.ts'

export type SessionRules = {
  agent: AgentRules
  tool: ToolRules
  render: RenderTemplate
  /** Lets other requests run before the returned promise resolves. Checks for several organizations take turns. */
  pause: (organizationId: string) => Promise<void>
}

/** Checks the request without its agent. */
export async function issuesOfRequest(
  request: SessionRequest,
  rules: SessionRules,
  organizationId: string,
): Promise<Issue[]> {
  const { agentId, intent, llm, constraints, tools, metadata, ...shared } = request
  const hasAgent = agentId !== undefined && agentId !== null
  const { systemPrompt, ...settings } = shared
  const issues = await issuesOfSettings(
    {
      ...settings,
      ...(systemPrompt && { systemPrompt }),
      ...(intent?.language !== undefined && { intent: { ...intent, language: intent.language } }),
      ...(llm && { llmOptions: llm }),
      ...(constraints && { stackPreferences: constraints }),
    },
    rules.agent,
    organizationId,
  )
  return [
    ...(hasAgent || intent?.language !== undefined ? [] : [missingIntent]),
    ...issues.map(asSent),
    ...(await issuesOfTools(tools ?? [], rules, organizationId)),
    ...repeatedNames(tools ?? []),
    ...issuesOfMetadata(metadata ?? {}),
  ]
}

/** Checks each tool after a pause: compiling a schema takes up to 20 ms, and a session may have 64 tools. */
async function issuesOfTools(
  tools: NonNullable<SessionRequest['tools']>,
  rules: SessionRules,
  organizationId: string,
): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const [at, tool] of tools.entries()) {
    await rules.pause(organizationId)
    for (const issue of issuesOfTool(tool, rules.tool)) issues.push({ ...issue, path: ['tools', at, ...issue.path] })
  }
  return issues
}

const missingIntent: Issue = { path: ['intent'], problem: { kind: 'intent_missing' } }

/** Converts an issue's path to the request's field names: two settings have different names in an agent. */
function asSent({ path: [first = '', ...rest], problem }: Issue): Issue {
  const names: Partial<Record<string | number, string>> = { llmOptions: 'llm', stackPreferences: 'constraints' }
  const path: ValuePath = [names[first] ?? first, ...rest]
  return { path, problem }
}

function repeatedNames(tools: readonly { name: string }[]): Issue[] {
  const names = tools.map(({ name }) => name)
  return names.flatMap((name, at): Issue[] =>
    names.indexOf(name) === at ? [] : [{ path: ['tools', at, 'name'], problem: { kind: 'repeated' } }],
  )
}

/** Checks the settings from agent and request together, because they may contradict each other. */
export function issuesOfJoined({ firstMessageMode, firstMessage, turnHandling }: JoinedSettings): Issue[] {
  const { minDelay, maxDelay } = turnHandling.endpointing
  return [
    ...(firstMessageMode === 'message' && firstMessage === null
      ? [{ path: ['firstMessageMode'], problem: { kind: 'first_message_missing' as const } }]
      : []),
    ...(maxDelay < minDelay
      ? [{ path: ['turnHandling', 'endpointing'], problem: { kind: 'max_delay_too_short' as const } }]
      : []),
  ]
}
