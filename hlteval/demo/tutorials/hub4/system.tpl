<TEMPLATE-G01-1> :=
    DOC_NR: G01 ##14#17#
    EVENT: <GAME-G01-1>
<GAME-G01-1> :=
    WINNER: "Old Mill" ##38#46#
    LOSER: "North End" ##57#66#
    SCORE: "3-0 in" ##67#73#
    PLACE: "Port Ilva" ##74#83#
<TEMPLATE-G02-1> :=
    DOC_NR: G02 ##14#17#
    EVENT: <GAME-G02-1>
<GAME-G02-1> :=
    WINNER: "North End" ##38#47#
    LOSER: "Old Mill" ##58#66#
<TEMPLATE-G03-1> :=
    DOC_NR: G03 ##14#17#
    EVENT: <GAME-G03-1>
<GAME-G03-1> :=
    WINNER: "Lakeside" ##38#46#
    LOSER: "Old Mill" ##57#65#
    SCORE: "3-0" ##66#69#
    PLACE: "Dorun" ##73#78#
<TEMPLATE-G04-1> :=
    DOC_NR: G04 ##14#17#
    EVENT: <GAME-G04-1>
<GAME-G04-1> :=
    WINNER: "Harbour" ##38#45#
    LOSER: "Riverside" ##56#65#
<TEMPLATE-G05-1> :=
    DOC_NR: G05 ##14#17#
    EVENT: <GAME-G05-1>
<GAME-G05-1> :=
    WINNER: "Harbour" ##38#45#
    LOSER: "North End" ##56#65#
    SCORE: "3-1" ##66#69#
    PLACE: "Mirena" ##73#79#
<TEMPLATE-G06-1> :=
    DOC_NR: G06 ##14#17#
    EVENT: <GAME-G06-1>
<GAME-G06-1> :=
    WINNER: "North End" ##38#47#
    LOSER: "Lakeside" ##58#66#
    SCORE: "4-1" ##67#70#
    PLACE: "Dorun" ##74#79#
<TEMPLATE-G07-1> :=
    DOC_NR: G07 ##14#17#
    EVENT: <GAME-G07-1>
<GAME-G07-1> :=
    WINNER: "Lakeside" ##38#46#
    LOSER: "Harbour" ##57#64#
    SCORE: "2-1" ##65#68#
    PLACE: "Dorun" ##72#77#
<TEMPLATE-G08-1> :=
    DOC_NR: G08 ##14#17#
    EVENT: <GAME-G08-1>
<GAME-G08-1> :=
    WINNER: "Lakeside" ##38#46#
    SCORE: "5-0" ##65#68#
    PLACE: "Mirena" ##72#78#
<TEMPLATE-G09-1> :=
    DOC_NR: G09 ##14#17#
    EVENT: <GAME-G09-1>
<GAME-G09-1> :=
    WINNER: "Harbour" ##38#45#
    LOSER: "Lakeside" ##56#64#
    SCORE: "4-0" ##65#68#
    PLACE: "Mirena" ##72#78#
<TEMPLATE-G10-1> :=
    DOC_NR: G10 ##14#17#
    EVENT: <GAME-G10-1>
<GAME-G10-1> :=
    WINNER: "Lakeside" ##38#46#
    LOSER: "Harbour" ##57#64#
    SCORE: "6-1" ##65#68#
    CROWD: "500 people" ##85#95#
<TEMPLATE-G11-1> :=
    DOC_NR: G11 ##14#17#
    EVENT: <GAME-G11-1>
<GAME-G11-1> :=
    WINNER: "Old Mill" ##38#46#
    LOSER: "Harbour 3-" ##57#67#
    SCORE: "3-0" ##65#68#
    PLACE: "Dorun" ##72#77#
<TEMPLATE-G12-1> :=
    DOC_NR: G12 ##14#17#
    EVENT: <GAME-G12-1>
<GAME-G12-1> :=
    LOSER: "Harbour" ##57#64#
    PLACE: "Sarvan" ##72#78#
