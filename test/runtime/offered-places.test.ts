import t from 'tap'
import { Capacity } from '../../runtime/shares/capacity.ts'
import { Owners } from '../../runtime/shares/owners.ts'

t.test('capacity that an organization offers to give back goes to others, unless the offer is withdrawn', (t) => {
  const capacity = new Capacity({ max: 2, part: 0.5 }, new Owners())
  const [first, second] = [capacity.take('a'), capacity.take('a')]
  let givenBack = 0
  const giveBack = () => {
    givenBack++
  }
  first?.offer(giveBack)
  first?.offer(null)
  t.equal(capacity.take('b'), null)
  second?.offer(giveBack)
  t.ok(capacity.take('b'))
  t.equal(givenBack, 1)
  first?.offer(giveBack)
  t.equal(capacity.take('c'), null, 'a has no more than its share')
  t.end()
})
