import type { LanguageWords } from './language-words.ts'

export const korean: LanguageWords = {
  turns: {
    backchannels:
      '네|예|응|어|음|그래|그래요|그렇죠|그렇군요|맞아요|맞습니다|알겠습니다|알겠어요|좋아요|아|아하|네네|그럼요',
    unfinished:
      '그리고|하지만|그런데|그래서|왜냐하면|만약|또|또는|근데|그러면|저는|제가|나는|내|제|저기|그|음|그러니까',
  },
  agent: {
    fallback: '죄송합니다. 지금은 답변드릴 수 없습니다. 다시 말씀해 주시겠어요?',
    toolLeadIn: '잠시만 기다려 주세요.',
  },
}
