import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Page } from './page.tsx'
import { Answer } from './states.tsx'

type PageAnswerProps<Data> = {
  of: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  /** The title until the data are there. */
  title: string
  children: (data: Data) => ReactNode
}

/** A page whose title is part of its data. Until then it has a title too, so that each state is a whole page. */
export function PageAnswer<Data>({ of, title, children }: PageAnswerProps<Data>) {
  if (of.data !== undefined) return children(of.data)
  return (
    <Page title={title}>
      <Answer of={of} rows={10}>
        {() => null}
      </Answer>
    </Page>
  )
}
