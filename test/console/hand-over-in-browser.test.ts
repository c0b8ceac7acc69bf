/** Tests how a person hands a live call over in the console: listen, take over, give back, and transfer. */
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import type { CallEntry } from '../../domain/records/call.ts'
import type { DoneFallback, Transfer } from '../../domain/records/transfer.ts'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { inboundPhone, newCall, newEvent } from '../calls/call.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { storeLiveCall } from './stored-calls.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'a live call is handed over', tests)

/** Starts a call from a browser, and stays in it. */
async function liveCall(t: { teardown(run: () => void): void }, owner: Target): Promise<string> {
  const made = await call(owner, 'POST', '/v1/sessions', { intent: { language: 'en' } })
  const { sessionId, transportUrl, transportToken } = made.json<{
    sessionId: string
    transportUrl: string
    transportToken: string
  }>()
  const socket = new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`])
  t.teardown(() => socket.terminate())
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary && data.toString().includes('"ready"')) resolve()
    })
  })
  return sessionId
}

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person listens to a live call, takes it over and gives it back', async (t) => {
    const { owner, place } = await organization('that takes over')
    const id = await liveCall(t, owner)
    const { page, open, check } = await signIn(t, place)
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector('[role="status"]:has-text("You listen")', patience)
    await check('call-listening')
    await page.click('button:has-text("Take over")')
    await page.waitForSelector('[role="status"]:has-text("the agent is silent")', patience)
    await page.click('button:has-text("Mute")')
    await page.waitForSelector('button[aria-pressed="true"]:has-text("Mute")', patience)
    await check('call-taken-over')
    await page.click('button:has-text("let the agent go on")')
    await page.waitForSelector('button:has-text("Join")', patience)
    const { events } = (await call(owner, 'GET', `/v1/calls/${id}/events`)).json<{ events: Event[] }>()
    const joined = events.filter(({ event_type: type }) => type === 'room.participant_joined')
    t.equal(new Set(joined.map(({ payload }) => payload.identity).filter((who) => who?.startsWith('join_'))).size, 2)
    t.match((await call(owner, 'GET', `/v1/calls/${id}`)).json(), { status: 'in_progress' })
  })

  t.test(
    'a person who takes over without a microphone keeps listening, and may try again with a microphone',
    async (t) => {
      const { owner, place } = await organization('without a microphone')
      const id = await liveCall(t, owner)
      const { page, open, check } = await signIn(t, place)
      await page.addInitScript(refuseMicrophone)
      await open(`/calls/${id}`, 'button:has-text("Join")')
      await page.click('button:has-text("Join")')
      await page.waitForSelector('[role="status"]:has-text("You listen")', patience)
      await page.click('button:has-text("Take over")')
      await page.waitForSelector('[role="status"]:has-text("no microphone"):has-text("You listen")', patience)
      await check('call-without-microphone')
      const moves = async () => {
        const { events } = (await call(owner, 'GET', `/v1/calls/${id}/events`)).json<{ events: Event[] }>()
        return events.filter(({ payload }) => payload.identity?.startsWith('join_')).map(({ event_type: type }) => type)
      }
      t.same(await moves(), ['room.participant_joined'], 'the person never left')
      await page.evaluate('isMicrophoneRefused = false')
      await page.click('button:has-text("Take over")')
      await page.waitForSelector('[role="status"]:has-text("the agent is silent")', patience)
      await until('the new seat', async () => (await moves()).length > 1)
      t.same(
        (await moves()).slice(0, 2),
        ['room.participant_joined', 'room.participant_joined'],
        'the new seat is first',
      )
    },
  )

  t.test('if the browser cannot play audio, the page shows the error of the browser', async (t) => {
    const { owner, place } = await organization('without sound')
    const id = await liveCall(t, owner)
    const { page, open } = await signIn(t, place)
    await page.addInitScript(`AudioWorklet.prototype.addModule = async () => { throw new DOMException('No sound.') }`)
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector('[role="status"]:has-text("No sound.")', patience)
  })

  t.test('a viewer may not join a call', async (t) => {
    const { owner, place } = await organization('with a viewer')
    const id = await liveCall(t, owner)
    const { page, open, check } = await signIn(t, { ...place, role: 'viewer' })
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.waitForSelector('text=Joining, transferring and ending a call needs the role member.', patience)
    for (const label of ['Join', 'Transfer', 'End'])
      t.equal(await page.isVisible(`main header button:text-is("${label}"):disabled`), true, label)
    await check('call-join-forbidden')
  })

  /** Opens the page of a stored phone call. The returned functions change the state of its transfer. */
  const openTransfer = async (t: Test, name: string) => {
    const { owner, place } = await organization(name)
    const id = await storeLiveCall({ ...place, dataDir: parley.dataDir }, 2, { kind: 'inbound', phone: inboundPhone })
    const visitor = await signIn(t, place)
    await visitor.open(`/calls/${id}`, 'button:has-text("Transfer")')
    return { ...visitor, owner, id, ...transferIn(owner, id) }
  }
  const transferIn = (owner: { id: string }, id: string) => {
    const attempt = transferOf(newCall(owner.id, { id }))
    const append = (entry: CallEntry) =>
      admin.store.calls.append({ organizationId: owner.id, test: false }, id, [entry])
    const change = (more: Partial<Transfer>) => {
      const fallback =
        more.status === 'failed' || more.status === 'cancelled' ? fallbackOf('return_to_assistant') : null
      return append(transferred({ ...attempt, completedAtMs: null, fallback, ...more }))
    }
    return { append, change }
  }
  const status = (text: string) => `[role="status"]:has-text("${text}")`

  t.test('a transfer that fails stays on the page with its reason, and can be tried again', async (t) => {
    const { page, check, change } = await openTransfer(t, 'whose transfer fails')
    await change({ status: 'requested' })
    await page.waitForSelector(status('The caller is on hold'), patience)
    await page.waitForSelector(status('calling'), patience)
    t.notOk(await page.isVisible('header > div button:has-text("Transfer")'), 'one transfer at a time')
    await change({ status: 'screening' })
    await page.waitForSelector(status('asking the person'), patience)
    await check('call-transfer-asking')
    await page.evaluate(`document.querySelector('section[aria-label="Transfer"] > button:last-of-type').focus()`)
    await page.evaluate(`document.querySelector('section[aria-label="Transfer"] > p').dataset.first = ''`)
    await change({ status: 'failed', failureCause: 'no_answer', completedAtMs: Date.now() })
    const outcome =
      'The transfer to Sales (+15005550017) failed: the person did not decide in time. The agent has the caller again.'
    await page.waitForSelector(status(outcome), patience)
    await page.waitForSelector('section[aria-label="Transfer"] p[data-first]:focus', patience)
    await check('call-transfer-failed')
    await page.click('button:has-text("Try again")')
    await page.waitForSelector('dialog[open] input[value="+15005550017"]', patience)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { ...patience, state: 'detached' })
    await page.click('section[aria-label="Transfer"] button[aria-label="Close the note on the transfer"]')
    await page.waitForSelector(`main:not(:has(${status(outcome)}))`, patience)
    t.ok(await page.isVisible('button:has-text("Transfer")'), 'another transfer can begin')
  })

  t.test('the button "Try again" repeats a failed transfer with the same prompt, metadata and fallback', async (t) => {
    const { page, check, change } = await openTransfer(t, 'that tries again')
    const bodies: unknown[] = []
    await page.route(/\/transfers\/warm$/, (route) => {
      bodies.push(JSON.parse(route.request().postData() ?? 'null'))
      const body = JSON.stringify({ error: 'Refused.', code: 'CALL_NOT_LIVE', requestId: 'req_test' })
      return route.fulfill({ status: 409, contentType: 'application/json', body })
    })
    const fallback = { ...fallbackOf('take_message'), message: 'Nobody is free.' }
    const [screeningPrompt, summary, metadata] = ['A customer calls.', 'They ask for a loan car.', { team: 'sales' }]
    const failed = { status: 'failed', failureCause: 'busy', completedAtMs: Date.now() } as const
    await change({ ...failed, fallback, screeningPrompt, summary, metadata })
    await page.click('button:has-text("Try again")')
    const sentence = 'dialog p:has-text("The agent says the same prompt")'
    await page.waitForSelector(sentence, patience)
    await page.selectOption('dialog select', 'blind')
    await page.waitForSelector(sentence, { ...patience, state: 'detached' })
    await page.selectOption('dialog select', 'warm')
    await page.click('dialog button:has-text("Transfer")')
    await page.waitForSelector('dialog [data-state="error"]', patience)
    await check('call-transfer-again')
    await page.fill('dialog input[name="to"]', '+15005550018')
    await change({ status: 'requested' })
    await page.waitForSelector(status('calling'), patience)
    t.equal(await page.evaluate(`document.querySelector('dialog input').value`), '+15005550018', 'the dialog stays')
    await page.click('dialog button:has-text("Transfer")')
    await until('the second request', () => bodies.length === 2)
    const destination = { to: '+15005550017', label: 'Sales', screeningPrompt, metadata }
    const kept = { strategy: 'take_message', message: 'Nobody is free.' }
    t.match(bodies, [
      { destinations: [destination], fallback: kept },
      { destinations: [{ ...destination, to: '+15005550018', label: null }], fallback: kept },
    ])
    t.notMatch(JSON.stringify(bodies), /loan car/, 'a summary may have been made from words of the caller')
  })

  t.test('a call that still rings offers no Join and no Transfer', async (t) => {
    const { owner, place } = await organization('whose phone rings')
    const ringing = newCall(owner.id, { kind: 'inbound', phone: inboundPhone, status: 'ringing' })
    await admin.store.calls.insert(ringing, {})
    const { page, open } = await signIn(t, place)
    await open(`/calls/${ringing.id}`, 'button:has-text("End")')
    for (const name of ['Join', 'Transfer']) t.notOk(await page.isVisible(`header button:has-text("${name}")`), name)
    const event = newEvent('call.in_progress', { status: 'in_progress' })
    const answered = { kind: 'move' as const, event, to: 'in_progress' as const, change: { startedAtMs: Date.now() } }
    await admin.store.calls.append({ organizationId: owner.id, test: false }, ringing.id, [answered])
    for (const name of ['Join', 'Transfer']) await page.waitForSelector(`header button:has-text("${name}")`, patience)
  })

  t.test('the page says why a transfer failed', async (t) => {
    const { page, change } = await openTransfer(t, 'with all reasons')
    for (const [failureCause, words] of [
      ['busy', 'failed: the line is busy.'],
      ['no_answer', 'failed: nobody answered.'],
      ['declined', 'failed: the person did not accept.'],
      ['voicemail', 'failed: a voicemail answered.'],
      ['carrier_error', 'failed: the number could not be connected.'],
    ] as const) {
      await change({ status: 'failed', failureCause, completedAtMs: Date.now() })
      await page.waitForSelector(status(words), patience)
    }
    for (const [action, words] of [
      ['end_call', 'The call ends.'],
      ['take_message', 'The agent takes a message.'],
    ] as const) {
      const fallback = fallbackOf(action)
      await change({ status: 'failed', failureCause: 'busy', fallback, completedAtMs: Date.now() })
      await page.waitForSelector(status(`failed: the line is busy. ${words}`), patience)
      t.equal(await page.isVisible('button:has-text("Try again")'), action !== 'end_call', action)
    }
    await change({ status: 'cancelled', completedAtMs: Date.now() })
    await page.waitForSelector(status('was cancelled. The agent has the caller again.'), patience)
    t.notOk(await page.isVisible('button:has-text("Try again")'), 'a person has cancelled it')
  })

  t.test('a transferred call shows who has the caller, also after its end, and offers no Join', async (t) => {
    const { page, check, change, append } = await openTransfer(t, 'that is transferred')
    await page.waitForSelector('button:has-text("Join")', patience)
    await change({ status: 'completed', completedAtMs: Date.now() })
    await page.waitForSelector(status('Transferred to Sales (+15005550017).'), patience)
    await page.waitForSelector('h1 + span:has-text("with +15005550017")', patience)
    for (const name of ['Join', 'Take over', 'Transfer'])
      t.notOk(await page.isVisible(`header button:has-text("${name}")`), name)
    t.ok(await page.isVisible('button:has-text("End")'))
    await check('call-transferred')
    const ended = { endedAtMs: Date.now(), endReason: 'transferred' as const }
    await append({ kind: 'move', event: newEvent('call.completed'), to: 'completed', change: ended })
    await page.waitForSelector('dl div:has-text("Transferred to") >> text=+15005550017', patience)
  })

  t.test('a person in a call learns that the caller is on hold, and cannot take over', async (t) => {
    const { owner, place } = await organization('with a person on hold')
    const id = await liveCall(t, owner)
    const { change } = transferIn(owner, id)
    const { page, open } = await signIn(t, place)
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector(status('You listen'), patience)
    await change({ status: 'requested' })
    await page.waitForSelector(status('You hear nobody while the caller is on hold.'), patience)
    t.notOk(await page.isVisible('button:has-text("Take over")'))
    await change({ status: 'failed', failureCause: 'busy', completedAtMs: Date.now() })
    await page.waitForSelector('button:has-text("Take over")', patience)
    await page.click('button:has-text("Take over")')
    await page.waitForSelector(status('You are connected with the caller'), patience)
    await page.waitForSelector(status('the line is busy. You have the caller again.'), patience)
    await change({ status: 'requested' })
    await page.waitForSelector(status('The caller is on hold and does not hear you.'), patience)
    t.notOk(await page.isVisible(status('You are connected with the caller')))
    await change({ status: 'cancelled', completedAtMs: Date.now() })
    await page.waitForSelector(status('You are connected with the caller'), patience)
    await call(owner, 'POST', `/v1/calls/${id}/end`)
    await page.waitForSelector(`${status('You are no longer in the call.')}:not(:has-text("connected"))`, patience)
    await page.waitForSelector('main:not(:has(button:has-text("End")))', patience)
    t.ok(await page.isVisible(status('You are no longer in the call.')), 'the note stays after the end')
  })
}

const fallbackOf = (action: DoneFallback['action']): DoneFallback => ({
  ...{ action, message: null, takeMessagePrompt: null, holdAudioUrl: null, voicemailDetected: false },
})

type Event = { event_type: string; payload: { identity?: string } }

const refuseMicrophone = `
  globalThis.isMicrophoneRefused = true
  const { getUserMedia } = MediaDevices.prototype
  MediaDevices.prototype.getUserMedia = function (wanted) {
    if (isMicrophoneRefused) return Promise.reject(new DOMException('Permission denied', 'NotAllowedError'))
    return getUserMedia.call(this, wanted)
  }`
