/**
 * A scripted "language model" made from rules, so that LLM features work without a vendor account. It answers from its
 * prompt's lines (`script.ts`) and calls tools named by the user (`script-tools.ts`). The same question always gets the
 * same answer. Its answers state openly that rules made them, so no user mistakes it for a real model.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Llm, LlmAnswer, LlmEvent, LlmItem, LlmRequest, StopReason } from '../../../domain/ports/llm.ts'
import { lackingAllBut } from '../../../domain/ports/llm-settings.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { CancelSignal } from '../../../domain/ports/system.ts'
import { languageOf, scriptLanguages } from './languages/languages.ts'
import type { ScriptLanguage } from './languages/script-language.ts'
import { answerFrom, readScript } from './script.ts'
import { answerToHint, asksForGreeting, isHint } from './script-hints.ts'
import { argumentsFrom, toolNamedIn, type Words } from './script-tools.ts'
import { Vocabulary } from './script-words.ts'
import { smallestValue } from './smallest-value.ts'

type Reply = { kind: 'text'; text: string } | { kind: 'call'; name: string; arguments: string }

const vocabularies = new Map(scriptLanguages.map((language) => [language, new Vocabulary(language)]))

export function createScriptedLlm(): Llm {
  // These settings are accepted with every value. A seed has no effect because the rules use no random numbers, and
  // parallel tool calls can be forbidden because no rule makes two calls at once.
  return { respond, stream, lacks: lackingAllBut('temperature', 'topP', 'topK', 'stop', 'seed', 'parallelToolCalls') }
}

async function respond(request: LlmRequest, signal: CancelSignal): Promise<LlmAnswer> {
  const answer: LlmAnswer = { text: '', calls: [], stopReason: 'stop', usage: noUsage }
  for await (const event of stream(request, signal)) {
    if (event.type === 'text') answer.text += event.delta
    if (event.type === 'call') answer.calls.push({ callId: event.callId, name: event.name, arguments: '' })
    if (event.type === 'arguments') answer.calls[event.index]!.arguments += event.delta
    if (event.type === 'end') Object.assign(answer, { stopReason: event.stopReason, usage: event.usage })
  }
  return answer
}

const noUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }

async function* stream(request: LlmRequest, signal: CancelSignal): AsyncGenerator<LlmEvent> {
  const reply = replyTo(request)
  const whole = reply.kind === 'text' ? reply.text : reply.arguments
  const text = reply.kind === 'text' ? beforeStop(whole, request.stop) : whole
  const words = tokens(text, request.maxOutputTokens + 1)
  const given = words.slice(0, request.maxOutputTokens)
  if (reply.kind === 'call') yield { type: 'call', index: 0, callId: callId(request.items), name: reply.name }
  for (const delta of given) {
    await turn()
    if (signal.aborted) throw new ProviderError('cancelled', { sent: true })
    yield reply.kind === 'call' ? { type: 'arguments', index: 0, delta } : { type: 'text', delta }
  }
  const inputTokens = request.items.reduce((sum, item) => sum + countTokens(contentOf(item)), 0)
  // The stop sequence counts as output too. Otherwise an answer beginning with the stop sequence would count as empty.
  const outputTokens = given.length + Number(text.length < whole.length)
  const usage = { ...noUsage, inputTokens, outputTokens }
  yield { type: 'end', stopReason: stopReason(reply, given.length < words.length), usage }
}

function stopReason(reply: Reply, cut: boolean): StopReason {
  if (cut) return 'max_output_tokens'
  return reply.kind === 'call' ? 'tool_call' : 'stop'
}

function beforeStop(text: string, stop: readonly string[] = []): string {
  const ends = stop.map((each) => text.indexOf(each)).filter((at) => at >= 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}

/** Splits the text into words, which serve as tokens. Each word keeps the space before it. */
function tokens(text: string, countMax: number): string[] {
  const words: string[] = []
  const word = /\s*\S+/g
  for (let match = word.exec(text); match && words.length < countMax; match = word.exec(text)) words.push(match[0])
  return words
}

/**
 * Counts words. Only ASCII white space separates words, and no strings are created, because an 8 MB conversation has
 * two million words.
 */
function countTokens(text: string): number {
  let count = 0
  for (let at = 0, wasBlank = true; at < text.length; at++) {
    const isBlank = text.charCodeAt(at) <= 0x20
    if (wasBlank && !isBlank) count++
    wasBlank = isBlank
  }
  return count
}

/** Returns an id that is unique within this conversation. */
function callId(items: readonly LlmItem[]): string {
  return `call_${items.filter((item) => item.type === 'function_call').length + 1}`
}

function contentOf(item: LlmItem): string {
  if (item.type === 'message') return item.text
  return item.type === 'function_call' ? item.arguments : item.result
}

function replyTo(request: LlmRequest): Reply {
  const said = lastUserText(request.items)
  const start = said.slice(0, readCharactersMax)
  const language = languageOf(request.language, isHint(start) ? '' : start, promptStart(request.items))
  const words: Words = { language, vocabulary: vocabularies.get(language) as Vocabulary }
  const tool = toolFor(request, start, words.vocabulary)
  if (tool) return { kind: 'call', name: tool.name, arguments: argumentsFrom(tool, start, words) }
  if (request.responseFormat) {
    return { kind: 'text', text: JSON.stringify(smallestValue(request.responseFormat.schema)) }
  }
  const last = request.items.at(-1)
  if (last?.type === 'function_result') return { kind: 'text', text: spokenResult(last.result, language.says) }
  return { kind: 'text', text: answerTo(said, request.items, words) }
}

/**
 * Returns the tool forced by the request, or a tool named by the user. Directly after a tool result, the user's words
 * choose no tool.
 */
function toolFor(
  { tools, toolChoice = 'auto', items }: LlmRequest,
  said: string,
  vocabulary: Vocabulary,
): LlmRequest['tools'][number] | undefined {
  if (typeof toolChoice === 'object') return tools.find(({ name }) => name === toolChoice.name)
  if (toolChoice === 'required') return toolNamedIn(tools, said, vocabulary) ?? tools[0]
  if (toolChoice === 'none' || items.at(-1)?.type === 'function_result' || isHint(said)) return undefined
  return toolNamedIn(tools, said, vocabulary)
}

const resultFieldsMax = 20
const resultDepthMax = 2

type Says = ScriptLanguage['says']

/** Returns a JSON object's fields as a sentence. Any other text is returned unchanged. */
function spokenResult(result: string, says: Says): string {
  const value = parsedObject(result)
  if (value === null) return `${says.toolAnswered} ${result}`
  const failure = value['error']
  if (isFields(failure) && typeof failure['code'] === 'string') return `${says.toolFailed} ${spokenFailure(failure)}`
  const spoken = spokenFields(value, resultDepthMax, says)
  return `${says.toolAnswered} ${spoken === '' ? says.done : sentence(spoken)}`
}

/**
 * Returns a sentence for a failed tool call. The voice loop reports a failure as `{"code": "invalid_arguments",
 * "detail": "/city is missing"}`.
 */
function spokenFailure({ code, detail }: Fields): string {
  const words = wordsOf(String(code))
  return sentence(
    typeof detail === 'string' && detail !== '' ? `${words}, ${detail.replace(/(^|\s)\//g, '$1')}` : words,
  )
}

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsedObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

function spokenFields(fields: Fields, depthLeft: number, says: Says): string {
  const all = Object.entries(fields).slice(0, resultFieldsMax)
  return all.map(([name, field]) => `${wordsOf(name)} ${spokenValue(field, depthLeft, says)}`).join(', ')
}

/** Returns a value as words. Deeply nested values are left out, because a listener could not follow them. */
function spokenValue(value: unknown, depthLeft: number, says: Says): string {
  if (value === null) return says.isEmpty
  if (typeof value !== 'object') return `${says.is} ${typeof value === 'string' ? value : JSON.stringify(value)}`
  if (depthLeft === 0) return says.hasMore
  if (isFields(value)) return `${says.has} ${spokenFields(value, depthLeft - 1, says) || says.nothing}`
  const items = value as unknown[]
  const plain = items.slice(0, resultFieldsMax).filter((item) => typeof item !== 'object')
  return plain.length === items.length && plain.length > 0
    ? `${says.is} ${plain.join(` ${says.and} `)}`
    : `${says.has} ${items.length} ${items.length === 1 ? says.entry : says.entries}`
}

const wordsOf = (name: string) => name.replaceAll('_', ' ')
const sentence = (text: string) => `${text.replace(/[\s.]+$/, '')}.`

function lastUserText(items: readonly LlmItem[]): string {
  const last = items.findLast((item) => item.type === 'message' && item.role === 'user')
  return last?.type === 'message' ? last.text.trim() : ''
}

/**
 * Only this much text is searched for names and rules, because some patterns need quadratic time for a long run of
 * digits.
 */
const readCharactersMax = 2000

type Rule = { when: RegExp; say: (match: RegExpExecArray) => string }

/** These rules are tried before the prompt's facts. */
function rulesOf({ triggers, operators, says }: ScriptLanguage): readonly Rule[] {
  return [
    {
      when: triggers.calculation,
      say: ({ groups: { a = '', operator = '', b = '' } = {} }) =>
        `${a} ${operator} ${b} ${says.is} ${calculate(numberOf(a), operatorOf(operator, operators), numberOf(b))}.`,
    },
    { when: triggers.whoAreYou, say: () => `${says.introduction}.` },
  ]
}

/** These rules are tried after the prompt's facts, because "Hi, when are you open?" is a question too. */
function mannersOf({ triggers, says }: ScriptLanguage): readonly Rule[] {
  return [
    { when: triggers.hello, say: () => `${says.hello} ${says.introduction}. ${says.askToRepeat}` },
    { when: triggers.whatCanYouDo, say: () => `${says.introduction}: ${says.abilities}` },
    { when: triggers.thanks, say: () => says.welcome },
    { when: triggers.goodbye, say: () => says.goodbye },
    { when: triggers.stop, say: () => says.allRight },
  ]
}

/** Returns the answer to the user's words. Answers in the prompt are tried before the general rules. */
function answerTo(said: string, items: readonly LlmItem[], { language, vocabulary }: Words): string {
  const { triggers, says } = language
  const start = said.slice(0, readCharactersMax)
  const hinted = answerToHint(start, says)
  if (hinted !== null) return hinted
  const before = items.findLast((item) => item.type === 'message' && item.role === 'assistant')
  if (before?.type === 'message' && triggers.again.test(start)) return before.text
  const toEcho = said.slice(triggers.echo.exec(start)?.[0].length ?? said.length)
  if (toEcho !== '') return toEcho
  const prompt = promptOf(items)
  const script = readScript(prompt, vocabulary)
  const isFirst = asksForGreeting(start) || !items.some((item) => item.type === 'message' && item.role !== 'system')
  if (isFirst) return script.greeting ?? `${says.hello} ${says.introduction}.`
  return (
    answerFrom(script.answers, start, vocabulary) ??
    ruleFor(rulesOf(language), start) ??
    answerFrom(script.facts, start, vocabulary) ??
    ruleFor(mannersOf(language), start) ??
    noAnswer(said, prompt, says)
  )
}

/** Returns enough of the prompt to detect its language. */
const promptStart = (items: readonly LlmItem[]) => promptOf(items).slice(0, readCharactersMax)

/**
 * Returns the system messages at the start of the request, because a client may send its instructions in several
 * messages. Notes and later system messages are not part of the prompt, because their words are not for the caller.
 */
function promptOf(items: readonly LlmItem[]): string {
  const texts: string[] = []
  for (const item of items) {
    if (item.type !== 'message' || item.role !== 'system') break
    if (!item.isNote) texts.push(item.text)
  }
  return texts.join('\n')
}

function ruleFor(some: readonly Rule[], start: string): string | null {
  for (const { when, say } of some) {
    const match = when.exec(start)
    if (match) return say(match)
  }
  return null
}

function noAnswer(said: string, prompt: string, says: Says): string {
  if (prompt !== '') return `${says.introduction}, ${says.noAnswer}`
  const quote = said === '' ? '' : ` ${says.youSaid} ${said}`
  return `${says.introduction}, ${says.noRule}${quote}`
}

type Operator = keyof ScriptLanguage['operators']

const numberOf = (text: string) => Number(text.replace(',', '.'))

function operatorOf(word: string, operators: ScriptLanguage['operators']): Operator {
  const entries = Object.entries(operators) as [Operator, readonly string[]][]
  return entries.find(([sign, words]) => sign === word || words.includes(word.toLowerCase()))?.[0] ?? '/'
}

function calculate(a: number, operator: Operator, b: number): number {
  if (operator === '+') return a + b
  if (operator === '-') return a - b
  return operator === '*' ? a * b : a / b
}
