import t from 'tap'
import { settled } from '../clock.ts'
import { isClean } from './fake-llm.ts'
import { frame, prices, setup } from './fake-stt-stream.ts'

t.test('the credit of a transcription stream is reserved minute by minute', async (t) => {
  const all = setup(['opens'], { prices })
  all.credit.balance = 130_000
  const live = all.begin()
  await settled()
  const minute = async () => {
    for (let i = 0; i < 3000; i++) live.audio(frame)
    await settled()
  }
  all.stream().keepsAudio = false
  t.equal(all.credit.reserved, 60_000)
  await minute()
  t.equal(all.credit.reserved, 120_000)
  await minute()
  t.same(all.sink.events, ['ready a', 'failed credit_exhausted'])
  t.match(all.ledger.last, { reservedMicroUsd: 120_000, row: { outcome: 'credit_exhausted', costMicroUsd: 120_000 } })
  isClean(t, all)

  const poor = setup(['opens'], { prices })
  poor.credit.balance = 1
  poor.begin()
  await settled()
  t.same(poor.sink.events, ['failed credit_too_low'])
  isClean(t, poor)

  const late = setup(['opens'], { prices })
  const leaving = late.begin()
  await settled()
  for (let i = 0; i < 2751; i++) leaving.audio(frame)
  leaving.leave()
  await settled()
  t.equal(late.ledger.last.reservedMicroUsd, 60_000)
  t.equal(late.credit.reserved, 60_000, 'a slice that is granted after the end is given back')
})

t.test('the first minute is reserved at the start, and each next minute 5 s before it is needed', async (t) => {
  const minuteMicroUsd = 60_000
  const poor = setup(['opens'], { prices })
  poor.credit.balance = minuteMicroUsd - 1
  poor.begin()
  await settled()
  t.same(poor.sink.events, ['failed credit_too_low'], 'a minute cannot be reserved')
  isClean(t, poor)

  const leadFrames = 55 * 50
  for (const [balance, events] of [
    [2 * minuteMicroUsd - 1, ['ready a', 'failed credit_exhausted']],
    [2 * minuteMicroUsd, ['ready a']],
  ] as const) {
    const all = setup(['opens'], { prices })
    all.credit.balance = balance
    const live = all.begin()
    await settled()
    all.stream().keepsAudio = false
    for (let i = 0; i < leadFrames - 1; i++) live.audio(frame)
    await settled()
    t.same(all.sink.events, ['ready a'])
    t.equal(all.credit.reserved, minuteMicroUsd, 'one minute is enough until 55 s')
    live.audio(frame)
    await settled()
    t.same(all.sink.events, events, `a balance of ${balance}`)
    live.leave()
    await settled()
    t.ok(all.credit.balance >= 0)
    isClean(t, all)
  }
})
