/**
 * A conversation by the simulated phone and by a browser's media socket, in each language with an embedded voice,
 * without an account and a network. The caller speaks, and the agent recognizes the words and answers. The
 * conversations run in real time.
 */
import t, { type Test } from 'tap'
import { call } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { VoiceCaller } from '../session/voice-caller.ts'
import { loadWhisper } from '../speech/whisper-model.ts'
import { errorRateOf, ownErrorRate, ownErrorRateMax, spokenLines, type Way } from './caller-lines.ts'
import { type Dialogue, dialogues } from './dialogues.ts'

type Model = { stage: string; routable: boolean; streaming: boolean; languages: readonly string[] }
type Row = { ended_at: string | null; transcript: { entries: { source: string; text: string }[] } }

/** The share of words that a conversation may miss in addition to the recognizer's own error rate. */
const errorRateAdded = 0.05
const waitMs = 120_000

/** `make test-all LANE=whisper` sets this variable. Without it the tests download no model. */
const whisper = process.env['PARLEY_TEST_WHISPER'] === '1' ? await loadWhisper() : { missing: 'not in this lane' }
const parley = await ownServer(t, {
  PARLEY_LOCAL_WARM: 'true',
  ...('modelsDir' in whisper && { PARLEY_LOCAL_MODELS_DIR: whisper.modelsDir }),
})
const { data } = (await call(parley, 'GET', '/v1/models')).json<{ data: Model[] }>()
const recognized = data.flatMap(({ stage, routable, streaming, languages }) =>
  stage === 'stt' && routable && streaming ? languages : [],
)

async function made<Made>(target: Target, where: string, body: object): Promise<Made> {
  const answer = await call(target, 'POST', where, body)
  if (answer.status !== 201) throw new Error(`${where} was answered ${answer.status}: ${answer.text}`)
  return answer.json<Made>()
}

/** Returns a call's transcript. The simulated caller says the dialogue's lines. */
async function phone({ language, greeting, prompt, turns }: Dialogue): Promise<Row['transcript']['entries']> {
  const agent = { name: language, systemPrompt: prompt, firstMessage: greeting, intent: { language } }
  const { id: agentId } = await made<{ id: string }>(parley, '/v1/agents', agent)
  const [number] = (await call(parley, 'GET', '/v1/phone-numbers')).json<{ id: string; e164: string }[]>()
  if (number === undefined) throw new Error('the new installation has no number')
  await call(parley, 'PATCH', `/v1/phone-numbers/${number.id}`, { agentId })
  const lines = turns.map(([said]) => said)
  await made(parley, '/simulator/calls', { from: '+15005550006', to: number.e164, lines })
  return transcriptOf(await newestCall(), turns.length)
}

async function newestCall(): Promise<string> {
  let id: string | undefined
  await until('the call', async () => {
    const list = await call(parley, 'GET', '/v1/sessions?kind=inbound&limit=1')
    id = list.json<{ entries: { sessionId: string }[] }>().entries[0]?.sessionId
    return id !== undefined && !known.has(id)
  })
  known.add(id as string)
  return id as string
}
const known = new Set<string>()
const percent = (share: number) => `${Math.round(100 * share)} %`

async function transcriptOf(id: string, turns: number): Promise<Row['transcript']['entries']> {
  let entries: Row['transcript']['entries'] = []
  const isOver = async () => {
    const row = (await call(parley, 'GET', `/v1/calls/${id}`)).json<Row>()
    entries = row.transcript.entries
    return row.ended_at !== null || entries.filter(({ source }) => source === 'agent').length > turns
  }
  await until('the conversation is over', isOver, waitMs)
  await call(parley, 'POST', `/v1/calls/${id}/end`)
  return entries
}

/** Returns the transcript of a session in a browser. The caller says the dialogue's lines into the microphone. */
async function browser(dialogue: Dialogue): Promise<Row['transcript']['entries']> {
  const { language, greeting, prompt, turns } = dialogue
  const settings = { intent: { language }, systemPrompt: prompt, firstMessage: greeting, voice: 'auto' }
  const caller = await VoiceCaller.join(parley, settings)
  await caller.shows(({ type, isFinal }) => type === 'agent_message' && isFinal === true, { withinMs: waitMs })
  for (const line of await spokenLines(parley, dialogue)) await caller.ask(line)
  await caller.hangUp()
  return transcriptOf(caller.sessionId, turns.length)
}

const wayOf = { phone, browser }

for (const dialogue of dialogues) {
  const { language, turns } = dialogue
  const skip = recognized.some((tag) => tag === '*' || tag.split('-')[0] === language)
    ? false
    : `no recognizer here knows ${language}: parley models add whisper-base`
  for (const [by, talk] of Object.entries(wayOf) as [Way, typeof phone][])
    t.test(`a caller and an agent talk in ${language} by ${by}`, { skip, timeout: 2 * waitMs }, async (t: Test) => {
      const ownRate = await ownErrorRate(parley, language, by)
      t.ok(ownRate <= (ownErrorRateMax[by][language] ?? 0), `${percent(ownRate)} errors in recordings`)
      const entries = await talk(dialogue)
      const said = entries.filter(({ source }) => source === 'user').map(({ text }) => text)
      const rate = errorRateOf(dialogue, said)
      t.comment(`${percent(rate)} errors in "${said.join(' | ')}", ${percent(ownRate)} in recordings`)
      t.ok(rate <= ownRate + errorRateAdded, `${percent(rate)} errors in "${said.join(' | ')}"`)
      const answers = entries.filter(({ source }) => source === 'agent').map(({ text }) => text)
      t.same(answers, [dialogue.greeting, ...turns.map(([, answer]) => answer)])
    })
}
