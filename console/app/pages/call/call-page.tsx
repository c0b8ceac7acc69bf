import { Page } from '../../parts/page.tsx'

export function CallPage() {
  return <Page title="Call">{null}</Page>
}
