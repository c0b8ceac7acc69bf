// Runs the hosted product's TypeScript SDK with our server's URL and key: each method whose resource this server has.
import { readFileSync, writeFileSync } from 'node:fs'
import { Speko } from '@spekoai/sdk'
import { apiKey, baseURL, recording, report, sentence } from '../report.mjs'
import { methodsOf, recorded } from './recorded.mjs'

// The SDK's resources without a counterpart in this server.
const absent = ['knowledgeBases.', 'realtime.']
const baseUrl = baseURL.replace(/\/v1$/, '')
const receiver = process.env.PARLEY_RECEIVER
const answers = []
const sdk = new Speko({ apiKey, baseUrl, timeout: 60_000 })
const client = recorded(sdk, answers)
// A client for an organization whose business has not been verified.
const applicant = recorded(new Speko({ apiKey: process.env.PARLEY_APPLICANT_KEY, baseUrl }), answers)
const intent = { language: 'en' }
const messages = [{ role: 'user', content: 'Hello?' }]
const systemPrompt = 'You are the front desk of a shop.'
// The person at this number says nothing.
const silent = '+15005550011'
// The first phone rings and never answers. The person at the second says nothing when asked to accept the call.
const [rings, undecided] = ['+15005550002', '+15005550019']
const known = {}
const audio = readFileSync(recording)

const transcribe = async () =>
  (await client.transcribe(audio, { language: 'en', optimizeFor: 'accuracy', keywords: ['privacy'] })).text

async function transcribeStream() {
  const events = await all(client.transcribeStream(audio, { language: 'en' }))
  const { text } = await sdk.transcribe(audio, { language: 'en' })
  return { types: typesOf(events), same: events.at(-1).text === text }
}

async function synthesize() {
  const { audio, contentType, provider, model } = await client.synthesize(sentence, { language: 'en' })
  known.speech = audio.length
  return { hasAudio: audio.length > 0, contentType, provider, model }
}

async function synthesizeStream() {
  const speech = await client.synthesizeStream(sentence, { language: 'en' })
  let length = 0
  for await (const chunk of speech) length += chunk.length
  return { provider: speech.provider, same: length === known.speech }
}

async function complete() {
  const { text, usage } = await client.complete({ messages, intent })
  return { text, tokens: usage.completionTokens }
}

async function completeStream() {
  const events = await all(client.completeStream({ messages, intent }))
  return { types: typesOf(events), text: events.at(-1).text }
}

async function createAgent() {
  const secret = { url: receiver, secret: 'a secret of an agent', authHeaders: [{ name: 'x-token', value: 't' }] }
  const agent = await client.agents.create({
    name: 'Front desk',
    systemPrompt,
    intent: { language: 'en', optimizeFor: 'latency' },
    llmOptions: { model: 'stub:stub-llm' },
    stackPreferences: { allowedProviders: { tts: ['local'], s2s: [] } },
    backgroundAudio: { ambient: { clip: 'office-ambience', volume: 8 } },
    webhooks: { status: { ...secret, responseMode: 'sync' }, recording: { url: receiver } },
    promptVariables: [{ name: 'shop' }],
  })
  known.agent = agent.id
  const { status } = agent.webhooks
  const refs = [status.secretRef, status.authHeaders[0].secretRef, agent.webhooks.recording.secretRef]
  return { name: agent.name, intent: agent.intent, refs: refs.map((ref) => ref.split(':')[0]) }
}

async function listAgents() {
  const rows = await client.agents.list()
  return Promise.all(rows.map(async ({ id }) => (await client.agents.get(id)).name))
}

const updateAgent = async () =>
  (await client.agents.update(known.agent, { webhooks: null, llmOptions: { temperature: 0.5 } })).llmOptions

async function tools() {
  const schema = { type: 'object', properties: {} }
  const tool = await client.agents.tools.create(known.agent, {
    name: 'find_order',
    description: 'Finds an order.',
    parameters: schema,
    source: { kind: 'webhook', url: receiver, secret: 'a secret', authHeaders: [{ name: 'x-token', value: 't' }] },
  })
  await client.agents.tools.create(known.agent, {
    name: 'show_map',
    description: 'Shows a map.',
    parameters: schema,
    source: { kind: 'inline' },
  })
  known.tool = tool.id
  const read = await client.agents.tools.get(known.agent, tool.id)
  const changed = await client.agents.tools.update(known.agent, tool.id, { preToolSpeech: 'never' })
  const rows = await client.agents.tools.list(known.agent, undefined, { available: true })
  const chatTools = await client.agents.tools.listChatTools(known.agent)
  const inline = chatTools.filter(({ name }) => name === 'show_map')
  return {
    ref: read.source.secretRef.split(':')[0],
    speech: [read.preToolSpeech, changed.preToolSpeech],
    names: rows.map(({ name }) => name).sort(),
    text: (await client.complete({ messages, intent, tools: inline })).text,
  }
}

async function numbers() {
  const rows = await client.phoneNumbers.list()
  known.number = rows[0].id
  const labelled = await client.phoneNumbers.update(known.number, { label: 'Desk' })
  return { count: rows.length, nextCharge: labelled.nextChargeAt > labelled.createdAt, label: labelled.label }
}

async function detach() {
  await client.agents.attachPhoneNumber(known.agent, known.number)
  await client.phoneNumbers.update(known.number, { dispatchMetadataTemplate: null })
  const alone = await client.agents.detachPhoneNumber(known.number)
  const again = await client.agents.attachPhoneNumber(known.agent, known.number)
  return { alone: alone.direction, again: again.direction, inbound: again.setupStatus.inboundReady }
}

async function buy() {
  const [offer] = await client.phoneNumbers.searchAvailable({ areaCode: '212', limit: 1 })
  const bought = await client.phoneNumbers.create({ e164: offer.e164 })
  const { direction } = await client.phoneNumbers.get(bought.id)
  return { direction, ...(await client.phoneNumbers.delete(bought.id)) }
}

async function importNumber() {
  const number = await client.phoneNumbers.importSipTrunk({
    e164: '+12125550188',
    sipConnectionInstallationId: process.env.PARLEY_CONNECTION,
    dispatchMetadataTemplate: { turnHandling: { turnDetection: true } },
  })
  return { source: number.source, direction: number.direction }
}

async function kyb() {
  const overview = await client.phoneNumbers.getKyb()
  const address = { street: '1 Main Street', city: 'Boston', state: 'MA', postalCode: '02108', country: 'US' }
  const profile = { legalName: 'Harbor', displayName: '', entityType: '', country: '', website: '' }
  const businessProfile = { ...profile, address, useCase: 'Appointments', expectedUsage: '' }
  const authorizedRepresentative = { name: 'Dana Reed', title: '', email: '' }
  const draft = await applicant.phoneNumbers.saveKybDraft({ businessProfile, authorizedRepresentative })
  const stored = { businessProfile: draft.businessProfile, authorizedRepresentative: draft.authorizedRepresentative }
  const again = await applicant.phoneNumbers.saveKybDraft(stored)
  const submitted = await applicant.phoneNumbers.submitKyb({
    businessProfile: {
      ...businessProfile,
      displayName: 'Harbor',
      website: 'https://harbor.example',
      entityType: 'PRIVATE_PROFIT',
      country: 'US',
      expectedUsage: 'Ten calls a day',
    },
    authorizedRepresentative: { name: 'Dana Reed', title: 'Owner', email: 'dana@harbor.example' },
    attestationAccepted: true,
  })
  return {
    status: overview.status,
    drafts: [draft.status, again.status],
    submitted: submitted.status,
    person: submitted.authorizedRepresentative.name,
  }
}

async function webhooks() {
  const events = ['call.status', 'call.recording']
  const created = await client.webhooks.create({ name: 'calls', url: receiver, events })
  await client.webhooks.update(created.id, { timeoutMs: 5000 })
  known.endpoint = created.id
  const { timeoutMs } = await client.webhooks.get(created.id)
  return { timeoutMs, listed: (await client.webhooks.list()).length }
}

async function dial() {
  const call = await client.voice.dial({
    to: silent,
    agentId: known.agent,
    intent: { language: 'en', optimizeFor: 'accuracy' },
    systemPrompt,
    firstMessage: 'Hello.',
    variables: { shop: 'ours' },
    turnHandling: { profile: 'ivr', turnDetection: true, contextThreshold: false, greetFirst: true },
    telephony: { amd: { mode: 'disabled' } },
    metadata: { order: '4711' },
    endCall: { enabled: true },
  })
  known.call = call.sessionId
  return call.status
}

async function follow() {
  const types = new Set()
  for await (const { type } of client.sessions.stream(known.call)) {
    // The person at this number says nothing and stays, so the call ends when the agent's words have come.
    if (type === 'transcript' && !types.has('transcript')) await client.calls.end(known.call)
    types.add(type)
  }
  const { entries } = await client.sessions.transcript(known.call)
  return { types: [...types].sort(), hasTurns: entries.length > 0 }
}

async function finished() {
  const finalized = await client.calls.finalizeReport(known.call, { forceAnalysis: false })
  const call = await client.calls.get(known.call)
  const row = await client.calls.report(known.call)
  return {
    status: call.status,
    report: call.report !== null,
    costs: [row.cost_micro_usd, finalized.cost_micro_usd],
    hasEvents: (await client.calls.events(known.call)).events.length > 0,
    end: (await client.calls.end(known.call)).status,
    listed: (await client.agents.listCalls(known.agent)).calls.map(({ call_id }) => call_id === known.call),
  }
}

async function recordedCall() {
  await received('call.recording')
  return (await client.calls.recording(known.call)).url.startsWith('http')
}

async function deliveries() {
  await received('call.status')
  const { data } = await client.webhooks.deliveries.list({ endpointId: known.endpoint, event: 'call.status' })
  const { id } = data.at(-1)
  const { delivered } = await client.webhooks.deliveries.redeliver(id)
  const { event, attempts } = await client.webhooks.deliveries.get(id)
  const rich = await client.webhooks.deliveries.list({ event: 'imessage.received' })
  return { event, bodies: typesOf(attempts.map(({ requestBody }) => requestBody)), delivered, rich: rich.data }
}

async function warmTransfers() {
  const call = await liveCall()
  const joined = await client.calls.webJoin(call, { displayName: 'Ann' })
  const warm = await client.calls.warmTransfer(call, {
    destinations: [{ to: rings }],
    waitUntilAnswered: false,
    voicemailDetection: { enabled: false },
    summary: 'About an order.',
  })
  const reason = { summary: 'Nobody came.', reason: 'Too late.' }
  const cancelled = await client.calls.cancelWarmTransfer(call, warm.id, reason)
  const second = await client.calls.warmTransfer(call, { to: undecided, voicemailDetection: { enabled: false } })
  await hasEvent(call, 'transfer.screening')
  const completed = await client.calls.completeWarmTransfer(call, second.id, { summary: 'She takes it.' })
  return {
    joined: Boolean(joined.token && joined.url && joined.identity),
    cancelled: [cancelled.status, cancelled.summary, cancelled.fallback.message],
    completed: [['bridging', 'completed'].includes(completed.status), completed.summary],
    end: (await client.calls.end(call)).status,
  }
}

async function blindTransfer() {
  const call = await liveCall()
  const transfer = await client.calls.blindTransfer(call, { to: rings, playDialtone: false, ringingTimeout: 30 })
  return { kind: transfer.kind, to: transfer.transfer_to, end: (await client.calls.end(call)).status }
}

async function callbacks() {
  const scheduled = (await client.callbacks.list({ status: 'scheduled' })).callbacks.length
  const cancelled = await client.callbacks.cancel(process.env.PARLEY_CALLBACK_TO_CANCEL, { reason: 'Called already.' })
  const dispatched = await client.callbacks.dispatch(process.env.PARLEY_CALLBACK_TO_MAKE)
  const { status } = await client.callbacks.get(dispatched.id)
  await client.calls.end(dispatched.created_session_id)
  return { scheduled, cancelled: cancelled.status, dispatched: [dispatched.status, status] }
}

async function money() {
  const { currency, totalSessions, totalMinutes } = await client.usage.get()
  const balance = await client.credits.getBalance()
  const page = await client.credits.getLedger({ limit: 1 })
  return { currency, totalSessions, minutes: totalMinutes > 0, balance: balance.currency, rows: page.entries.length }
}

async function voices() {
  const [every, local] = [await client.voices.list(), await client.voices.list({ provider: 'local-tts' })]
  return { vendors: [...new Set(local.voices.map(({ vendor }) => vendor))], more: every.providers.length > 1 }
}

async function deleteAgent() {
  await client.phoneNumbers.update(known.number, { agentId: null })
  await client.webhooks.delete(known.endpoint)
  const tool = await client.agents.tools.delete(known.agent, known.tool)
  return { tool, agent: await client.agents.delete(known.agent), webhooks: await client.webhooks.list() }
}

/** Returns the methods that no step has called. The methods for absent resources are left out. */
function notCalled() {
  const called = new Set(answers.map(({ method }) => method))
  const methods = methodsOf(sdk).filter((method) => !absent.some((resource) => method.startsWith(resource)))
  writeFileSync(process.env.PARLEY_ANSWERS, JSON.stringify(answers))
  return { notCalled: methods.filter((method) => !called.has(method)), hasMany: methods.length > 50 }
}

/** Calls a number, and returns the call's id when a person answers. */
async function liveCall() {
  const { sessionId } = await client.voice.dial({ to: silent, intent, systemPrompt, llm: { temperature: 0.5 } })
  for await (const event of client.sessions.stream(sessionId))
    if (event.type === 'status' && event.status === 'in_progress') return sessionId
  throw new Error('the call has ended')
}

async function hasEvent(call, type) {
  for await (const event of client.sessions.stream(call))
    if (event.type === 'event' && event.event.event_type === type) return
  throw new Error(`the call has ended without ${type}`)
}

/** Waits until the receiver has got an event with this type. */
const received = (event) => fetch(`${receiver}/${event}`, { signal: AbortSignal.timeout(60_000) })

async function all(stream) {
  const events = []
  for await (const event of stream) events.push(event)
  return events
}

const typesOf = (events) => [...new Set(events.map(({ type }) => type))].sort()

await report({
  ...{ transcribe, transcribeStream, synthesize, synthesizeStream, complete, completeStream },
  ...{ createAgent, listAgents, updateAgent, tools, numbers, detach, buy, importNumber, kyb, webhooks },
  ...{ dial, follow, finished, recordedCall, deliveries, warmTransfers, blindTransfer, callbacks },
  ...{ money, voices, deleteAgent, notCalled: async () => notCalled() },
})
