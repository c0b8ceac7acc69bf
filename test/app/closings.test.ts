/** All parts of an app are closed, even if one part fails to close. */
import t from 'tap'
import { createClosings } from '../../app/closings.ts'

t.test('when the server ends it closes all its parts, the last opened first, even if one fails to close', async (t) => {
  const { closing, close } = createClosings()
  const closed: string[] = []
  closing(() => closed.push('store'))
  closing(() => Promise.reject(new Error('the bucket is gone')))
  closing(() => closed.push('server'))
  await t.rejects(close(), { message: 'the bucket is gone' })
  t.same(closed, ['server', 'store'])
  await close()
  t.equal(closed.length, 2, 'each part is closed once')
})

t.test('if several parts fail to close, each error is reported', async (t) => {
  const { closing, close } = createClosings()
  for (const name of ['store', 'bucket'])
    closing(() => {
      throw new Error(name)
    })
  await t.rejects(close(), { errors: [{ message: 'bucket' }, { message: 'store' }] })
})
