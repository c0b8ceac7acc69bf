import t from 'tap'
import { interruptible, requireUninterrupted } from '../../store/backup/interruption.ts'

const listeners = () => process.listenerCount('SIGHUP')

t.test('a first signal interrupts the work, and a second signal has its default effect', async (t) => {
  const before = listeners()
  const work = interruptible(async (interruption) => {
    await requireUninterrupted(interruption)
    t.equal(listeners(), before + 1)
    interruption.message = 'the command was interrupted at its end'
    process.emit('SIGHUP')
    t.equal(listeners(), before)
    await t.rejects(requireUninterrupted(interruption), { message: 'the command was interrupted at its end' })
    return interruption.arrived
  })
  await t.rejects(work, { message: 'the command was interrupted at its end' })
})

t.test('uninterrupted work returns its result, and leaves no signal listener', async (t) => {
  const before = listeners()
  t.equal(await interruptible(() => Promise.resolve(7)), 7)
  t.equal(listeners(), before)
})
