import t from 'tap'
import { failure } from '../domain/fakes.ts'
import { converse } from './setup.ts'

const greeting = { firstMessage: 'Hello there.', firstMessageMode: 'message' as const }

t.test("silence ends the session after the agent's last words", async (t) => {
  const { sim, record, over } = converse({
    settings: { ...greeting, silenceTimeoutSeconds: 5, endCallMessage: 'Goodbye.' },
  })
  await sim.until(() => record.turns.length === 1)
  const quietMs = sim.nowMs
  await sim.until(() => over.ended)
  t.same(sim.closed, { reason: 'silence_timeout', fault: null })
  t.equal(sim.agentWords, 'Hello there. Goodbye.')
  t.equal(record.turns.at(-1)?.text, 'Goodbye.')
  t.ok(sim.nowMs - quietMs >= 5000 && sim.nowMs - quietMs < 6500, `${sim.nowMs - quietMs} ms`)
})

t.test('speech of the user restarts the silence timer', async (t) => {
  const { sim, record, over } = converse({ settings: { silenceTimeoutSeconds: 5 } })
  await sim.run(4000)
  sim.say('hello there.')
  await sim.until(() => record.turns.length === 2)
  await sim.run(4500)
  t.notOk(over.ended)
  await sim.until(() => over.ended, 1000)
})

t.test('when the longest duration is over, the agent finishes its sentence', async (t) => {
  const long = 'One two three four five. Six seven eight nine ten.'
  const { sim, record, over } = converse({
    settings: { maxDurationSeconds: 30, endCallMessage: 'Time is up.' },
    answerOf: () => long,
  })
  sim.pause(28_400)
  sim.say('count.')
  await sim.until(() => over.ended, 60_000)
  t.same(sim.closed, { reason: 'max_duration', fault: null })
  t.equal(sim.wholeAgentWords.join(' '), 'One two three four five. Time is up.')
  t.match(record.turns.at(-2), { playedText: 'One two three four five.' })
})

t.test('when the longest duration is over, the user may finish speaking', async (t) => {
  const { sim, over, texts } = converse({ settings: { maxDurationSeconds: 30, endCallMessage: 'Time is up.' } })
  sim.pause(29_500)
  sim.say('this is a long sentence of mine.')
  await sim.until(() => over.ended, 60_000)
  t.same(texts(), ['user: this is a long sentence of mine.', 'agent: Time is up.'])
})

t.test('idle prompts are spoken in order, and begin again after the user speaks', async (t) => {
  const { sim, record, texts } = converse({
    settings: {
      ...greeting,
      idleRePrompts: { enabled: true, delayMs: 2000, maxPrompts: 3, messages: ['First ask.', 'Last ask.'] },
    },
  })
  await sim.until(() => record.turns.length === 3)
  sim.say('wait a minute.')
  await sim.until(() => record.turns.length === 8, 40_000)
  await sim.run(5000)
  t.same(texts(), [
    'agent: Hello there.',
    'agent: First ask.',
    'agent: Last ask.',
    'user: wait a minute.',
    'agent: I see.',
    'agent: First ask.',
    'agent: Last ask.',
    'agent: Last ask.',
  ])
})

t.test('idle prompts without texts are written by the LLM', async (t) => {
  const { sim, record, requests } = converse({
    settings: { ...greeting, idleRePrompts: { enabled: true, delayMs: 2000, maxPrompts: 1, messages: [] } },
    answerOf: () => 'Still there?',
  })
  await sim.until(() => record.turns.length === 2)
  t.equal(record.turns[1]?.text, 'Still there?')
  t.equal(requests.length, 1)
})

t.test('firstMessageMode generate: the LLM writes the first message', async (t) => {
  const { sim, record, requests } = converse({
    settings: { firstMessageMode: 'generate' },
    answerOf: () => 'Welcome to us.',
  })
  await sim.until(() => record.turns.length === 1)
  t.equal(sim.agentWords, 'Welcome to us.')
  sim.say('hello there.')
  await sim.until(() => record.turns.length === 3)
  t.same(
    requests.at(-1)?.items.map((item) => item.type === 'message' && item.role),
    ['system', 'assistant', 'user'],
    'the hint is not in the history',
  )
})

t.test('typed messages and digits are turns and interrupt the agent', async (t) => {
  const { sim, record, conversation, texts } = converse({
    answerOf: (said) => (said === 'long please' ? 'One two three four five six seven eight.' : `You sent ${said}`),
  })
  conversation.userMessage('long please')
  await sim.until(() => sim.firstAgentAudioMs(0) !== null)
  await sim.run(1000)
  conversation.userMessage('short please')
  await sim.until(() => record.turns.length === 4)
  conversation.dtmf('12')
  conversation.dtmf('#')
  await sim.until(() => record.turns.length === 6)
  conversation.dtmf('7')
  await sim.until(() => record.turns.length === 8)
  t.same(
    texts().filter((text) => !text.startsWith('agent: One')),
    [
      'user: long please',
      'user: short please',
      'agent: You sent short please',
      'user: [keypad 12#]',
      'agent: You sent [keypad 12#]',
      'user: [keypad 7]',
      'agent: You sent [keypad 7]',
    ],
  )
  t.match(record.turns[1], { source: 'agent', latencyStatus: 'interrupted', conversationalLatencyMs: null })
  t.match(record.turns[2]?.metadata, { typed: true })
  t.match(record.turns[4]?.metadata, { dtmf: true })
  t.match(record.turns[2], { provider: null, model: null })
  const echoes = sim.events.filter((event) => event.type === 'transcript')
  t.match(echoes[0], { text: 'long please', isFinal: true })
})

t.test('a contextual update is a note for the LLM and not a turn', async (t) => {
  const { sim, record, conversation, requests } = converse()
  conversation.contextualUpdate('The user looks at page 3.')
  await sim.run(2000)
  t.equal(requests.length, 0)
  t.match(record.turns, [{ source: 'system', text: 'The user looks at page 3.', latencyStatus: null }])
  sim.say('what is this.')
  await sim.until(() => record.turns.length === 3)
  t.match(requests[0]?.items[1], { role: 'system', text: 'The user looks at page 3.' })
})

t.test('if the LLM fails, the agent says the fallback text; three failed turns in a row end the session', async (t) => {
  let works = false
  const { sim, record, over } = converse({
    settings: { fallbackMessage: 'Please repeat that.' },
    answerOf: () => (works ? 'Here I am.' : failure('server')),
  })
  const ask = async () => {
    const before = record.turns.length
    await sim.run(6000)
    sim.say('are you there.')
    await sim.until(() => record.turns.length >= before + 2 || over.ended)
  }
  await ask()
  t.match(record.turns[1], { playedText: 'Please repeat that.', latencyStatus: 'error' })
  await ask()
  works = true
  await ask()
  t.match(record.turns[5], { playedText: 'Here I am.', latencyStatus: 'complete' })
  works = false
  await ask()
  await ask()
  t.notOk(over.ended)
  await ask()
  t.same(sim.closed, { reason: 'pipeline_failed', fault: 'upstream' })
})

t.test('a session ends if speech to text has had no working provider for 10 s', async (t) => {
  const { sim, over, streams } = converse({ settings: { silenceTimeoutSeconds: 600 } })
  await sim.run(100)
  t.equal(streams.length, 1)
  const failedMs = sim.nowMs
  for (let at = 0; at < 3000 && !over.ended; at++) {
    for (const stream of streams) if (!stream.isClosed) stream.fail(failure('server'))
    await sim.run(10)
  }
  t.same(sim.closed, { reason: 'pipeline_failed', fault: 'upstream' })
  const afterMs = sim.nowMs - failedMs
  t.ok(afterMs >= 9000 && afterMs <= 14_000, `${afterMs} ms`)
})

t.test('if a speech-to-text stream breaks, a new stream is opened, and no word is lost', async (t) => {
  const { sim, record, streams } = converse({ settings: { silenceTimeoutSeconds: 600 } })
  sim.say('one two three four.')
  await sim.run(700)
  streams.at(-1)?.fail(failure('server'))
  await sim.until(() => record.turns.length === 2)
  t.match(record.turns[0]?.text, /three four\./)
  t.ok(streams.length >= 2)
})

t.test('if the credit is used up, the call ends after the current sentence', async (t) => {
  const { sim, record, over, credit } = converse({ isPriced: true, answerOf: () => 'Fine.' })
  sim.say('hello there.')
  await sim.until(() => record.turns.length === 2)
  credit.balance = 0
  sim.say('and now.')
  await sim.until(() => over.ended)
  t.same(sim.closed, { reason: 'credit_exhausted', fault: 'budget_exhausted' })
  t.equal(record.events.filter(({ type }) => type === 'budget.exhausted').length, 1)
})

t.test('if the credit is used up while the agent says goodbye, no further transcription is opened', async (t) => {
  const { sim, streams, conversation, over, credit } = converse({
    isPriced: true,
    settings: { firstMessage: 'One moment please.', firstMessageMode: 'message' },
  })
  await sim.run(1000)
  let refused = 0
  credit.reserve = () => {
    refused += 1
    return Promise.resolve('credit')
  }
  conversation.leave('agent_hangup', 'Goodbye and thank you for your call today.')
  streams.at(-1)?.fail(failure('server'))
  await sim.until(() => over.ended)
  t.equal(refused, 1)
  t.match(sim.agentWords, /call today\.$/u, 'the goodbye was spoken')
})

t.test('if an API request ends a call, the call ends at once and only once', async (t) => {
  const { sim, record, conversation, over, clock } = converse({ answerOf: () => 'One two three four five six.' })
  sim.say('count please.')
  await sim.until(() => sim.firstAgentAudioMs(0) !== null)
  await sim.run(500)
  conversation.end('api_ended')
  conversation.end('api_ended')
  conversation.hangUp()
  await sim.run(1000)
  t.same(record.ended, ['api_ended'])
  t.ok(over.ended)
  t.same(sim.closed, { reason: 'api_ended', fault: null })
  t.match(record.turns.at(-1), { source: 'agent', latencyStatus: 'interrupted' })
  t.equal(clock.timers, 0, 'no timer is left')
  conversation.userMessage('hello')
  conversation.contextualUpdate('note')
  conversation.dtmf('1')
  await sim.run(3000)
  t.equal(clock.timers, 0)
  t.same(record.ended, ['api_ended'])
})

t.test('words of the user that were not answered are in the transcript', async (t) => {
  const { sim, conversation, texts } = converse()
  await sim.run(sim.say('one more thing') + 60)
  conversation.hangUp()
  t.same(texts(), ['user: one more thing'])
  t.same(sim.closed, { reason: 'user_hangup', fault: null })
})

t.test('while the socket is lost the agent is silent and timers stop, and then the session continues', async (t) => {
  const { sim, record, conversation, over } = converse({
    settings: { silenceTimeoutSeconds: 5 },
    answerOf: () => 'One two three four five six seven eight nine ten.',
  })
  sim.say('count please.')
  await sim.until(() => sim.firstAgentAudioMs(0) !== null)
  await sim.run(300)
  conversation.gone()
  const frames = sim.framesReceived
  await sim.runDeaf(15_000)
  t.equal(sim.framesReceived, frames)
  t.notOk(over.ended)
  conversation.back(sim)
  await sim.until(() => record.turns.length === 2)
  t.ok(sim.framesReceived > frames)
  await sim.until(() => over.ended)
  t.equal(sim.closed?.reason, 'silence_timeout')
})

t.test('a client that reconnects after the end of its session is notified of the end', async (t) => {
  const { sim, conversation } = converse({})
  conversation.gone()
  conversation.end('user_disconnected')
  await sim.runDeaf(1000)
  t.equal(sim.closed, null)
  conversation.back(sim)
  t.same(sim.closed, { reason: 'user_disconnected', fault: null })
})

t.test('a conversation that fails at its start ends with pipeline_failed', async (t) => {
  const { sim, record, over, clock } = converse({ settings: { backgroundAudio: null as never } })
  await sim.run(100)
  t.same(sim.closed, { reason: 'pipeline_failed', fault: 'internal' })
  t.same(record.ended, ['pipeline_failed'])
  t.equal(over.ended, true)
  t.equal(clock.timers, 0)
})

t.test('an error while a failed answer is handled ends the conversation with pipeline_failed', async (t) => {
  const { sim, record, conversation } = converse({ answerOf: () => new Error('a defect of the LLM') })
  const notify = sim.notify.bind(sim)
  sim.notify = (event) => {
    if (event.type === 'agentMessage') throw new Error('a defect of the page')
    notify(event)
  }
  conversation.userMessage('hello')
  await sim.until(() => record.ended.length > 0, 5_000)
  t.same(record.ended, ['pipeline_failed'])
  t.same(sim.closed, { reason: 'pipeline_failed', fault: 'internal' })
})

t.test('a playout error in one conversation does not stop the timer that all conversations share', async (t) => {
  const { sim, record, conversation, clock } = converse({ answerOf: () => 'One two three four five six seven.' })
  const frame = sim.frame.bind(sim)
  let frames = 0
  sim.frame = (samples) => {
    // The first frames are sent ahead at once, and later frames by the timer. The error must come from the timer.
    if (++frames > 30) throw new Error('a defect of the transport')
    frame(samples)
  }
  conversation.userMessage('hello')
  await sim.until(() => record.ended.length > 0, 5_000)
  t.same(record.ended, ['pipeline_failed'])
  await sim.run(1000)
  t.equal(clock.timers, 0)
})
