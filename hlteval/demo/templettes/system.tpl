<TEMPLATE-B1-1> :=
    DOC_NR: B1 ##14#16#
    EVENT: <CONTEST-B1-7>
<CONTEST-B1-7> :=
    NAME: "bread contest" ##66#79#
    WINNER: "Cairo" ##47#52#
    LOSER: "Anna Berg" ##136#145#
    SCORE: "7-2" ##149#152#
<TEMPLATE-B-2-1> :=
    DOC_NR: B-2 ##14#17#
