/** An organization that renders many Liquid templates does not delay another organization's template. */
import t from 'tap'
import { createRules } from '../../app/resources.ts'
import { Catalog } from '../../domain/catalog/catalog.ts'

const { render, pause } = createRules(new Catalog([]), [])

t.test('the templates of one organization do not delay the template of another organization', async (t) => {
  const order: string[] = []
  const rendered = (owner: string) =>
    render('Hello {{ name }}', { name: 'Ada' }, {}, owner).then(() => order.push(owner))
  await Promise.all([...Array.from({ length: 10 }, () => rendered('org_1')), rendered('org_2')])
  t.ok(order.indexOf('org_2') <= 2, order.join(' '))
})

t.test('the schema checks of one organization do not delay a schema check of another', async (t) => {
  const order: string[] = []
  const checked = (owner: string) => pause(owner).then(() => order.push(owner))
  await Promise.all([...Array.from({ length: 10 }, () => checked('org_1')), checked('org_2')])
  t.ok(order.indexOf('org_2') <= 2, order.join(' '))
})
