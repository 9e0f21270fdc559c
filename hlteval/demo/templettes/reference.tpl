<TEMPLATE-B1-1> :=
    DOC_NR: B1 ##14#16#
    EVENT: <CONTEST-B1-1>
           <CONTEST-B1-2>
    COMMENT: "the second one: hardly a contest"
<CONTEST-B1-1> :=
    NAME: "[bread [contest]]" ##66#79#66#79#72#79#
        / contest in Lyon ##72#87#
    WINNER: "[bakers] of [Cairo]" ##37#52#37#43#47#52#
    LOSER: "loaf of [Anna Berg]" ##128#145#136#145#
         / "white loaf" ##122#132#
    SCORE: / "7-2" ##149#152#
    DATE: "Sunday, 3 May" ##156#169#
    PRIZE:
<CONTEST-B1-2> :=
    NAME: "rye bread" ##103#112#
    OBJ_STATUS: OPTIONAL
<TEMPLATE-B-2-1> :=
    DOC_NR: B-2 ##14#17#
    COMMENT: no contest
