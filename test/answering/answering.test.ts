/** A call that somebody has answered, on a clock that stands still. */
import t from 'tap'
import { Answering, type AnswerPlan } from '../../domain/answering/answering.ts'
import { ManualClock } from '../http/harness.ts'

const leaves: AnswerPlan = { mode: 'carrier', timeoutMs: 10_000, action: 'leave_message', message: 'Call back.' }

/** The conversation begins 500 ms after the answer. */
function answer(plan: Partial<AnswerPlan> = {}) {
  const clock = new ManualClock()
  const log: string[] = []
  const decided = (result: string, latencyMs: number) => void log.push(`${result} after ${latencyMs}`)
  const answering = new Answering({ ...leaves, ...plan }, { clock, decided })
  answering.answered()
  const begin = () =>
    answering.begin(
      {
        silence: () => void log.push('silence'),
        leave: (reason, message) => void log.push(`${reason}: ${message}`),
        end: (reason) => void log.push(`end ${reason}`),
      },
      'Hello.',
    )
  clock.advance(500)
  return { clock, log, answering, begin, observer: answering.observer }
}

const tone = Int16Array.from({ length: 8000 }, (_, at) => 6000 * Math.sin((2 * Math.PI * at) / 16))

t.test('the message is said after the tone', (t) => {
  const { log, answering, begin, observer, clock } = answer()
  begin()
  answering.decide('machine')
  answering.decide('human')
  t.same(log.splice(0), ['machine after 500', 'silence'], 'only the first verdict counts')
  observer.speechStarted()
  observer.audio(tone)
  t.same(log, [], 'the tone goes on')
  observer.audio(new Int16Array(1600))
  t.same(log.splice(0), ['voicemail: Call back.'])
  observer.speechEnded()
  clock.advance(60_000)
  answering.close()
  t.same(log, [], 'once')
  t.equal(clock.pending, 0)
  t.end()
})

t.test('without a tone it is said after two seconds of silence, or after thirty seconds', (t) => {
  const first = answer({ message: null })
  first.begin()
  first.observer.speechStarted()
  first.answering.decide('machine')
  first.clock.advance(5000)
  first.observer.speechEnded()
  first.clock.advance(1500)
  first.observer.speechStarted()
  first.clock.advance(1500)
  first.observer.speechEnded()
  first.clock.advance(1999)
  t.same(first.log.splice(0), ['machine after 500', 'silence'])
  first.clock.advance(1)
  t.same(first.log, ['voicemail: Hello.'], 'the first message is the default')

  const endless = answer()
  endless.begin()
  endless.observer.speechStarted()
  endless.answering.decide('machine')
  endless.clock.advance(29_999)
  t.equal(endless.log.length, 2)
  endless.clock.advance(1)
  t.equal(endless.log[2], 'voicemail: Call back.')
  t.end()
})

t.test('a verdict that comes before the conversation takes effect when it begins', (t) => {
  const { log, answering, begin } = answer({ action: 'hangup' })
  answering.decide('machine')
  t.same(log.splice(0), ['machine after 500'])
  begin()
  t.same(log, ['end voicemail'])
  t.end()
})

t.test('no result in time is not_sure, and a call that is over has none', (t) => {
  const { clock, log, answering, begin, observer } = answer()
  begin()
  clock.advance(9_499)
  t.same(log, [])
  clock.advance(1)
  answering.decide('machine')
  observer.audio(tone)
  t.same(log, ['not_sure after 10000'])

  const over = answer()
  over.begin()
  over.answering.close()
  over.answering.decide('machine')
  over.clock.advance(60_000)
  t.same(over.log, [])
  t.equal(over.clock.pending, 0)
  t.end()
})
