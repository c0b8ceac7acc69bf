/**
 * An answered outbound call is classified as a person or an answering machine, and the agent acts on the result. Uses a
 * test clock.
 */
import t from 'tap'
import { Answering, type AnswerPlan } from '../../domain/answering/answering.ts'
import { TestClock } from '../clock.ts'

const leaves: AnswerPlan = { mode: 'carrier', timeoutMs: 10_000, action: 'leave_message', message: 'Call back.' }

/** Answers a call. The conversation begins 500 ms later. */
function answer(plan: Partial<AnswerPlan> = {}) {
  const clock = new TestClock()
  const log: string[] = []
  const decided = (result: string, latencyMs: number) => void log.push(`${result} after ${latencyMs}`)
  const answering = new Answering({ ...leaves, ...plan }, { clock, decided })
  answering.answered()
  const begin = () =>
    answering.begin(
      {
        silence: (isSilent) => void log.push(isSilent ? 'silence' : 'speak'),
        leave: (reason, message) => void log.push(`${reason}: ${message}`),
        end: (reason) => void log.push(`end ${reason}`),
      },
      {
        firstMessage: 'Hello.',
        intent: { language: 'en', optimizeFor: 'balanced', region: null },
        sttOptions: { keywords: [], prompt: null, language: null },
      },
    )
  clock.pass(500)
  return { clock, log, answering, begin, observer: answering.observer }
}

const tone = Int16Array.from({ length: 8000 }, (_, at) => 6000 * Math.sin((2 * Math.PI * at) / 16))

t.test('the voicemail message is spoken after the tone', (t) => {
  const { log, answering, begin, observer, clock } = answer()
  begin()
  answering.decide('machine')
  answering.decide('human')
  t.same(log.splice(0), ['machine after 500', 'silence'], 'only the first verdict counts')
  observer.onset(clock.monotonicMs())
  observer.audio(tone)
  t.same(log, [], 'the tone goes on')
  observer.audio(new Int16Array(1600))
  t.same(log.splice(0), ['voicemail: Call back.'])
  observer.offset(clock.monotonicMs())
  clock.pass(60_000)
  answering.close()
  t.same(log, [], 'once')
  t.equal(clock.timers, 0)
  t.end()
})

t.test('without a tone the voicemail message is spoken after 2 s of silence, or after 30 s at the latest', (t) => {
  const first = answer({ message: null })
  first.begin()
  first.observer.onset(first.clock.monotonicMs())
  first.answering.decide('machine')
  first.clock.pass(5000)
  first.observer.offset(first.clock.monotonicMs())
  first.clock.pass(1500)
  first.observer.onset(first.clock.monotonicMs())
  first.clock.pass(1500)
  first.observer.offset(first.clock.monotonicMs())
  first.clock.pass(1999)
  t.same(first.log.splice(0), ['machine after 500', 'silence'])
  first.clock.pass(1)
  t.same(first.log, ['voicemail: Hello.'], 'the first message is the default')

  const endless = answer()
  endless.begin()
  endless.observer.onset(endless.clock.monotonicMs())
  endless.answering.decide('machine')
  endless.clock.pass(29_999)
  t.equal(endless.log.length, 2)
  endless.clock.pass(1)
  t.equal(endless.log[2], 'voicemail: Call back.')
  t.end()
})

t.test('a detection result that comes before the conversation takes effect when the conversation begins', (t) => {
  const { log, answering, begin } = answer({ action: 'hangup' })
  answering.decide('machine')
  t.same(log.splice(0), ['machine after 500'])
  begin()
  t.same(log, ['end voicemail'])
  t.end()
})

t.test('AMD mode agent: a beep shows that a machine answered, and the message is left after the beep', (t) => {
  const { log, begin, observer } = answer({ mode: 'agent' })
  begin()
  observer.audio(tone)
  t.same(log.splice(0), ['machine after 500', 'silence'])
  observer.audio(new Int16Array(1600))
  t.same(log, ['voicemail: Call back.'])
  t.end()
})

/** Speaks `text` for `ms`, and is then silent for `silentMs`. */
function says({ observer, clock }: ReturnType<typeof answer>, text: string, ms: number, silentMs: number): void {
  observer.onset(clock.monotonicMs())
  clock.pass(ms)
  observer.words(text, true)
  observer.offset(clock.monotonicMs())
  for (let at = 0; at < silentMs; at += 100) clock.pass(100)
}

t.test('AMD mode agent: the first words and their length distinguish a person from a machine', (t) => {
  const cases = [
    ['Hello?', 600, 2000, 'human'],
    ['Hello?', 600, 1000, undefined],
    ['', 600, 2000, undefined],
    ['Hi, this is Sam. Please leave a message.', 2400, 0, 'machine'],
    ["You've reached the Smiths.", 1500, 5000, undefined],
    ["You've reached the Smiths. Please leave a message.", 2500, 0, 'machine'],
    ["You've reached the bicycle shop in Market Street, Joan speaking, how can I help you today?", 5000, 0, 'human'],
    ['He is not available. Would you like to leave a message?', 2800, 0, 'human'],
    ['Guten Tag, Bäckerei Schmidt.', 1500, 2000, 'human'],
    ['This is the voice-mail of Sam.', 1500, 0, 'machine'],
    ['Hello, this is Sam of the bicycle shop in Market Street, good morning.', 3900, 3000, undefined],
    ['Welcome to our company, which has been here since nineteen hundred and two.', 4100, 3000, 'machine'],
    ['For sales, press one.', 4100, 3000, 'not_sure'],
    ['Hi, please say your name and why you are calling.', 5000, 0, 'not_sure'],
    ['Mm.', 4100, 3000, undefined],
  ] as const
  for (const [text, ms, silentMs, result] of cases) {
    const call = answer({ mode: 'agent', action: 'hangup' })
    call.begin()
    says(call, text, ms, silentMs)
    t.equal(call.log[0]?.split(' ')[0], result, `"${text}" in ${ms} ms`)
    call.answering.close()
    t.equal(call.clock.timers, 0)
  }
  t.end()
})

t.test('AMD mode agent: the length of the first words is measured in the audio, even if the audio comes late', (t) => {
  const cases = [
    {
      text: 'Hello there. I have a question about your opening hours.',
      audioMs: 3600,
      readMs: 4700,
      result: undefined,
    },
    {
      text: 'Welcome to our company, which sells bicycles since 1902.',
      audioMs: 4100,
      readMs: 3000,
      result: 'machine',
    },
  ]
  for (const { text, audioMs, readMs, result } of cases) {
    const { observer, clock, log, answering, begin } = answer({ mode: 'agent', action: 'hangup' })
    begin()
    const startMs = clock.monotonicMs()
    clock.pass(Math.max(0, audioMs - readMs))
    observer.onset(startMs)
    clock.pass(readMs)
    observer.words(text, true)
    observer.offset(startMs + audioMs)
    for (let at = 0; at < 2500; at += 100) clock.pass(100)
    t.equal(log[0]?.split(' ')[0], result, text)
    answering.close()
  }
  t.end()
})

t.test('AMD mode agent: words soon after a greeting belong to the greeting, and a later utterance is a reply', (t) => {
  const slow = answer({ mode: 'agent', action: 'hangup' })
  slow.begin()
  says(slow, 'Good morning, this is the bicycle shop in', 4500, 900)
  slow.observer.words('Market Street, how can I help you?', true)
  t.equal(slow.log[0]?.split(' ')[0], 'human')

  const reply = answer({ mode: 'agent', action: 'hangup' })
  reply.begin()
  reply.clock.pass(4001)
  says(reply, 'I would like another day for my bicycle, because I have no time before.', 5000, 400)
  t.same(reply.log, [])
  reply.answering.close()
  t.end()
})

t.test('AMD mode agent: a short pause ends no greeting, and a long greeting is classified early', (t) => {
  const call = answer({ mode: 'agent', action: 'hangup' })
  call.begin()
  says(call, 'Good evening. This is Sam.', 1500, 500)
  says(call, 'I am not here.', 1000, 500)
  t.same(call.log, [])
  says(call, 'I would like you to', 1000, 0)
  call.observer.words('I would like you to leave', false)
  call.observer.words('a message', false)
  call.observer.words('leave a message', false)
  t.equal(call.log[0]?.split(' ')[0], 'machine')

  const late = answer({ mode: 'agent' })
  late.begin()
  says(late, '', 400, 1600)
  t.same(late.log, [])
  late.observer.onset(late.clock.monotonicMs())
  late.observer.words('Hello', false)
  t.equal(late.log[0]?.split(' ')[0], 'human', 'speech to text was late')

  const endless = answer({ mode: 'agent', action: 'hangup' })
  endless.begin()
  endless.observer.onset(endless.clock.monotonicMs())
  endless.observer.words('We are a company that sells bicycles and', false)
  endless.clock.pass(5999)
  t.same(endless.log, [])
  endless.clock.pass(1)
  t.equal(endless.log[0]?.split(' ')[0], 'machine')
  t.end()
})

t.test('after the time limit the AMD result is not_sure, and no result is reported once the call is over', (t) => {
  const { clock, log, answering, begin, observer } = answer()
  begin()
  clock.pass(9_499)
  t.same(log, [])
  clock.pass(1)
  answering.decide('machine')
  observer.audio(tone)
  t.same(log, ['not_sure after 10000'])

  const over = answer()
  over.begin()
  over.answering.close()
  over.answering.decide('machine')
  over.clock.pass(60_000)
  t.same(over.log, [])
  t.equal(over.clock.timers, 0)
  t.end()
})

t.test('a transfer stops the answering machine detection, and the agent may talk again', (t) => {
  const silenced = answer()
  silenced.begin()
  silenced.answering.decide('machine')
  t.same(silenced.log.splice(0), ['machine after 500', 'silence'])
  silenced.answering.giveUp()
  t.same(silenced.log.splice(0), ['speak'])
  silenced.answering.giveUp()
  silenced.clock.pass(60_000)
  t.same(silenced.log, [], 'no message is left')
  t.equal(silenced.clock.timers, 0)

  const asking = answer()
  asking.begin()
  asking.answering.giveUp()
  asking.answering.decide('machine')
  t.same(asking.log, [], 'no verdict counts any more')

  const over = answer()
  over.begin()
  over.answering.decide('machine')
  over.answering.close()
  over.answering.giveUp()
  t.same(over.log, ['machine after 500', 'silence'], 'the end of the call undoes nothing')
  t.end()
})
