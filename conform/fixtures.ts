/** Makes resources through the API, so operations with an id in their path have real ids, and removes them again. */
import { type Conformance, spendReason } from './conformance.ts'
import type { Operation } from './contract.ts'
import { deletions, isEnding, type Kind, kindFor, named, pathNames, rows } from './fixture-table.ts'
import type { Received, Sent } from './http.ts'
import { Unanswered } from './limits.ts'
import { firstExample, rateHz, recordingOf, requestOf } from './requests.ts'
import { type Inapplicable, inapplicable } from './results.ts'
import type { Talk } from './talk.ts'

type Ids = Readonly<Record<string, string>>
type Fields = Record<string, unknown>

/** A fixture could not be made. The message is the reason, and the checks with the fixture are not applicable. */
export class Missing extends Error {}

export class Fixtures {
  readonly #run: Conformance
  readonly #key: string
  readonly #cached = new Map<string, Promise<string>>()
  readonly #made: [deletion: string, name: string][] = []
  /** Resources that the run cannot remove, because it does not know their ids. */
  readonly #unnamed = new Set<string>()
  readonly #open: Talk[] = []
  #names = Math.floor(Math.random() * 1e8) * 1000

  /** The resources belong to the key's organization, as live or test resources like the key. */
  constructor(run: Conformance, key: string) {
    this.#run = run
    this.#key = key
  }

  /**
   * Returns an id for each parameter in the operation's path. If the operation ends a resource, the resource is new.
   */
  async ids(operation: Operation): Promise<Ids | Inapplicable> {
    const names = pathNames(operation)
    if (names.length === 0) return this.#withoutIds(operation)
    const row = rows.find(([pattern]) => pattern.test(operation.path))
    if (row === undefined) return inapplicable('no fixture makes its ids')
    return this.#orReason(async () => {
      const ids: Record<string, string> = {}
      for (const [index, kind] of row[1].entries())
        ids[names[index] ?? ''] = await this.#id(
          kindFor(operation, kind),
          ids,
          isEnding(operation) && index === names.length - 1,
        )
      return ids
    })
  }

  /**
   * Storing a provider key would replace a key that the organization already has for the provider. So the operation
   * gets a provider without a key.
   */
  async #withoutIds({ id }: Operation): Promise<Ids | Inapplicable> {
    return this.#orReason(async () => {
      if (id === 'putProviderKey') await this.#cachedId('unconfigured')
      return {}
    })
  }

  /** Returns the reason if a fixture cannot be made. */
  async #orReason(make: () => Promise<Ids>): Promise<Ids | Inapplicable> {
    try {
      return await make()
    } catch (error) {
      if (error instanceof Missing) return inapplicable(error.message)
      throw error
    }
  }

  /** Puts existing ids, free names and a time of the last hour into an example. */
  async adapt(operation: Operation, value: unknown): Promise<unknown> {
    if (typeof value !== 'object' || value === null) return value
    const fields: Fields = { ...value }
    if (named.has(operation.id) && 'name' in fields) fields['name'] = `conform_${++this.#names}`
    try {
      if (operation.id === 'importPhoneNumber') fields['e164'] = `+1500555${String(++this.#names).slice(-4)}`
      if (operation.id === 'recoverWebhook') fields['since'] = new Date(Date.now() - 3_600_000).toISOString()
      if (operation.id === 'putProviderKey') fields['provider'] = await this.#cachedId('unconfigured')
      if (operation.id === 'createPhoneSession') fields['from'] = await this.#numberFrom()
      if (operation.id === 'purchasePhoneNumber') fields['e164'] = await this.#id('available', {}, true)
      if ('agentId' in fields) fields['agentId'] = await this.#cachedId('agent')
      if ('sipConnectionInstallationId' in fields)
        fields['sipConnectionInstallationId'] = await this.#cachedId('sipConnection')
    } catch (error) {
      if (!(error instanceof Missing)) throw error
    }
    return fields
  }

  /** Remembers a new resource, to remove it at the end. */
  remember(operation: Operation, received: Received): void {
    const deletion = deletions[operation.id]
    if (deletion === undefined || received.status < 200 || received.status > 299) return
    // The organization had this subscription before, and the operation has replaced it.
    if (operation.id === 'putRmsgSubscription' && received.status === 200) return
    const { id, sessionId, provider } = fieldsIn(received) ?? {}
    const name = id ?? sessionId ?? provider
    if (typeof name === 'string') this.#made.push([deletion, name])
    else this.#unnamed.add(`a resource by ${operation.id}, whose answer has no id`)
  }

  /** A recording with speech from the server, or with silence if the server does not speak. */
  async recording(): Promise<Buffer> {
    const operation = this.#run.operation('createSpeech')
    if (operation === null) return recordingOf(1)
    const value = {
      input: 'Please try the call later.',
      audio: { encoding: 'pcm_s16le', sample_rate_hz: rateHz, channels: 1 },
    }
    try {
      const received = await this.#answerTo(operation, requestOf({ operation, key: this.#key, value }))
      return received.status === 200 ? recordingOf(0, received.body) : recordingOf(1)
    } catch (error) {
      if (error instanceof Missing) return recordingOf(1)
      throw error
    }
  }

  /** Starts a session. Returns the path and the token for its media channel. */
  async seat(): Promise<{ id: string; path: string; token: string }> {
    const started = parsed(await this.#send('createSession'))
    const address = String(started['transportUrl'])
    if (!URL.canParse(address)) throw new Missing('createSession answers no transportUrl')
    const { pathname, search } = new URL(address)
    return { id: String(started['sessionId']), path: pathname + search, token: String(started['transportToken']) }
  }

  /** Removes everything, the newest first. Returns the resources that the server keeps, with the reasons. */
  async removeAll(): Promise<string[]> {
    for (const talk of this.#open) talk.end()
    const left = [...this.#unnamed]
    for (const [deletion, name] of this.#made.reverse()) {
      const reason = await this.#remove(deletion, name)
      if (reason !== null) left.push(`${name}: ${reason}`)
    }
    return left
  }

  /** Returns the reason if the resource is still there, or null. */
  async #remove(deletion: string, name: string): Promise<string | null> {
    const operation = this.#run.operation(deletion)
    if (operation === null) return `the document has no ${deletion}`
    const [parameter = ''] = pathNames(operation)
    try {
      const { status } = await this.#run.http.send(requestOf({ operation, key: this.#key, ids: { [parameter]: name } }))
      return isGone(status) ? null : `${deletion} is answered ${status}`
    } catch (error) {
      return `${deletion}: ${(error as Error).message}`
    }
  }

  #cachedId(kind: Kind): Promise<string> {
    const known = this.#cached.get(kind)
    if (known !== undefined) return known
    const made = this.#make(kind, {})
    this.#cached.set(kind, made)
    return made
  }

  #id(kind: Kind, ids: Ids, isNew: boolean): Promise<string> {
    return isNew || kind === 'tool' || kind === 'transfer' ? this.#make(kind, ids) : this.#cachedId(kind)
  }

  async #make(kind: Kind, ids: Ids): Promise<string> {
    switch (kind) {
      case 'agent':
        return field(await this.#send('createAgent'), 'id')
      case 'tool':
        return field(await this.#send('createAgentTool', { ids }), 'id')
      case 'webhook':
        return field(await this.#send('createWebhook'), 'id')
      case 'sipConnection':
        return field(await this.#send('createSipConnection'), 'id')
      case 'number':
        return field(await this.#send('importPhoneNumber'), 'id')
      case 'queued':
        return field(await this.#send('createSession'), 'sessionId')
      case 'live':
        return (await this.#join()).id
      case 'talked':
        return this.#talk()
      case 'recorded':
        return this.#found('getCallRecording', await this.#cachedId('talked'))
      case 'delivery':
        return field(await this.#send('testWebhook', { ids: { id: await this.#cachedId('webhook') } }), 'deliveryId')
      case 'request':
        return this.#request()
      case 'provider':
        return field(await this.#send('putProviderKey'), 'provider')
      case 'unconfigured':
        return this.#unconfigured()
      case 'served':
        return this.#served()
      case 'model':
        return this.#listed('listCompatModels', 'id')
      case 'available':
        return this.#listed('searchPhoneNumbers', 'e164')
      case 'callback':
        return this.#listed('listCallbacks', 'id')
      case 'rmsgNumber':
        return this.#listed('listRmsgNumbers', 'id')
      case 'subscription':
        return this.#listed('listRmsgSubscriptions', 'id')
      case 'phoned':
        return field(await this.#send('createPhoneSession'), 'sessionId')
      case 'transfer':
        return field(await this.#send('transferCallBlind', { ids }), 'id')
    }
  }

  /** Sends the operation's first example. Throws Missing if the server does not accept it. */
  async #send(id: string, more: { ids?: Ids } = {}): Promise<Received> {
    const operation = this.#run.operation(id)
    if (operation === null) throw new Missing(`the document has no ${id}`)
    if (this.#run.keyFor(operation) === null) throw new Missing(spendReason)
    const value = await this.adapt(operation, firstExample(operation))
    const received = await this.#answerTo(operation, requestOf({ operation, key: this.#key, value, ...more }))
    this.remember(operation, received)
    if (received.status < 200 || received.status > 299) throw new Missing(`${id} answers ${received.status}`)
    return received
  }

  /**
   * Throws Missing if there is no answer. The operation's checks then report the failure, and checks with this fixture
   * are left out.
   */
  async #answerTo(operation: Operation, sent: Sent): Promise<Received> {
    try {
      return await this.#run.send(operation, sent)
    } catch (error) {
      if (error instanceof Unanswered) throw new Missing(error.message)
      throw error
    }
  }

  /** Makes a request and waits for its route, which is available a moment after the request has ended. */
  async #request(): Promise<string> {
    const { headers } = await this.#send('createSpeech')
    const id = headers[`${this.#run.headerPrefix.toLowerCase()}-request-id`]
    if (id === undefined) throw new Missing('createSpeech answers no request id')
    return this.#found('getRequestRoute', id)
  }

  /** Waits until the operation finds the id, because the server writes it in the background. Returns the id anyway. */
  async #found(reading: string, id: string): Promise<string> {
    const operation = this.#run.operation(reading)
    if (operation === null) throw new Missing(`the document has no ${reading}`)
    const sent = requestOf({ operation, key: this.#key, ids: { id } })
    for (let tries = 1; tries < foundTriesMax; tries++) {
      if ((await this.#run.http.send(sent)).status !== 404) break
      await this.#run.http.pause(foundWaitMs)
    }
    return id
  }

  async #listed(id: string, name: string): Promise<string> {
    const [first] = rowsIn(await this.#send(id))
    if (first === undefined) throw new Missing(`${id} lists nothing`)
    return String(first[name])
  }

  /** Returns a number for outbound calls. */
  async #numberFrom(): Promise<string> {
    await this.#cachedId('number')
    return this.#listed('listPhoneNumbers', 'e164')
  }

  async #unconfigured(): Promise<string> {
    const free = rowsIn(await this.#send('listProviders')).find(({ source }) => source !== 'BYOK')
    if (free === undefined) throw new Missing('every provider has a key of the organization')
    return String(free['provider'])
  }

  /** Returns a provider with the platform's key. A run stores made-up keys for other providers. */
  async #served(): Promise<string> {
    const served = rowsIn(await this.#send('listProviderHealth')).find(({ keySource }) => keySource === 'MANAGED')
    if (served === undefined) throw new Missing('no provider has a key of the platform')
    return String(served['provider'])
  }

  /** Starts a session and joins it, as a browser does. */
  async #join(): Promise<{ id: string; talk: Talk }> {
    const { id, path, token } = await this.seat()
    const channel = this.#run.channel('sessionMedia')
    if (channel === null) throw new Missing('no document has the media channel of a session')
    const protocols = [channel.subprotocol, `${channel.credentialPrefix}${token}`]
    const talk = this.#run.connect(path, protocols, {})
    this.#open.push(talk)
    if ((await talk.first('ready')) === null) throw new Missing('the media channel of a session does not open')
    return { id, talk }
  }

  /** Runs a conversation by text, so that turns, events, a report and a recording exist. */
  async #talk(): Promise<string> {
    const { id, talk } = await this.#join()
    talk.send({ type: 'user_message', text: 'When do you open on Sundays?' })
    await talk.first('agent_message')
    talk.send({ type: 'end' })
    await talk.closed()
    return id
  }
}

/** How often a fixture looks for the route of a request, or for a recording, and the wait between two attempts. */
const foundTriesMax = 12
const foundWaitMs = 250

/** Returns true if a removal's status means that the resource is gone. Checks may have removed it already. */
const isGone = (status: number) => (status >= 200 && status <= 299) || status === 404 || status === 410

/** Returns the JSON in an answer, or null if it cannot be read. */
function fieldsIn({ body }: Received): Fields | null {
  try {
    const value = JSON.parse(body.toString()) as unknown
    return typeof value === 'object' && value !== null ? (value as Fields) : null
  } catch {
    return null
  }
}

function parsed(received: Received): Fields {
  const fields = fieldsIn(received)
  if (fields === null) throw new Missing('an answer has no JSON')
  return fields
}

function field(received: Received, name: string): string {
  const value = parsed(received)[name]
  if (typeof value !== 'string') throw new Missing(`an answer has no ${name}`)
  return value
}

/** Returns the rows of a list: the answer itself, or its only list. */
function rowsIn(received: Received): Fields[] {
  const body = parsed(received)
  const list = Array.isArray(body) ? body : Object.values(body).find(Array.isArray)
  return (list ?? []) as Fields[]
}
